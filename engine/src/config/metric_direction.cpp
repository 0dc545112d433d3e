#include "hpsearch/engine/config/metric_direction.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace hpsearch::engine {
namespace {

constexpr std::array<std::string_view, 21> larger_is_better{
    "acc",    "accuracy",  "auc",  "auroc", "bleu",   "dice",  "f1",    "iou",  "map",  "mcc", "ndcg",
    "recall", "precision", "psnr", "r2",    "reward", "rouge", "score", "ssim", "top1", "top5"};
constexpr std::array<std::string_view, 14> smaller_is_better{
    "cer", "err",  "error", "fid", "latency",    "logloss", "loss",
    "mae", "mape", "mse",   "nll", "perplexity", "ppl",     "rmse"};

template <std::size_t n>
bool lists(const std::array<std::string_view, n>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::optional<bool> smaller_is_better_by_name(std::string_view metric) {
  bool larger = false;
  bool smaller = false;
  std::string word;
  for (std::size_t at = 0; at <= metric.size(); ++at) {
    if (at < metric.size() && std::isalnum(static_cast<unsigned char>(metric[at])) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(metric[at])));
      continue;
    }
    larger = larger || lists(larger_is_better, word);
    smaller = smaller || lists(smaller_is_better, word);
    word.clear();
  }
  return larger == smaller ? std::nullopt : std::optional(smaller);
}

}  // namespace hpsearch::engine

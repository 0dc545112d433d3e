#include "config/search_notes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>
#include <string>
#include <string_view>

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

/// What a metric's name says; nothing when it says neither or both.
std::optional<bool> is_smaller_better(std::string_view metric) {
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

}  // namespace

void note_odd_searches(const ExperimentConfig& config, Findings& findings) {
  const std::span<const Space::Leaf> leaves = config.space.leaves();
  const bool nothing_varies =
      std::all_of(leaves.begin(), leaves.end(), [](const auto& leaf) { return is_constant(leaf.parameter); });
  if (nothing_varies && config.searcher.max_trials > 1) {
    findings.notes.push_back({"hyperparameters",
                              "hold nothing to search: all " + std::to_string(config.searcher.max_trials) +
                                  " trials run the same configuration, with different seeds",
                              "at least one with a type: int, double, log or categorical"});
  }
  if (!nothing_varies && config.searcher.name == "single") {
    findings.notes.push_back(
        {"hyperparameters", "hold ranges, and a single search runs one configuration: it is drawn from them",
         "random or grid as searcher.name, to try several"});
  }
  const std::optional<bool> by_name = is_smaller_better(config.searcher.metric);
  if (by_name && *by_name != config.searcher.smaller_is_better) {
    findings.notes.push_back({"searcher.smaller_is_better",
                              std::string("is ") + (*by_name ? "false" : "true") + ", and the search " +
                                  (*by_name ? "maximises" : "minimises") + " \"" + config.searcher.metric +
                                  "\"",
                              std::string(*by_name ? "true" : "false") + ", if the name means what it says"});
  }
}

}  // namespace hpsearch::engine

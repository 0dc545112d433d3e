#include "hpsearch/engine/experiment/absent_metric.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::engine {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

/// "Val/loss" is {"val", "loss"}.
std::vector<std::string> words_of(std::string_view name) {
  constexpr std::string_view between = "_-./: ";
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (between.find(c) == std::string_view::npos) {
      words.back() += lower(c);
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

}  // namespace

bool names_the_same_metric(std::string_view a, std::string_view b) {
  const std::vector<std::string> of_a = words_of(a);
  const std::vector<std::string> of_b = words_of(b);
  return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                    [](const std::string& x, const std::string& y) {
                      return !x.empty() && !y.empty() && (x.starts_with(y) || y.starts_with(x));
                    });
}

std::string_view meant_metric(std::span<const std::string_view> reported, std::string_view metric) {
  for (const std::string_view name : reported) {
    if (names_the_same_metric(name, metric)) {
      return name;
    }
  }
  return nearest(metric, reported);
}

std::string absent_metric_text(std::span<const std::string_view> reported, std::string_view metric) {
  constexpr std::size_t most = 8;
  std::string text = reported.empty() ? "reported no metric" : "reported ";
  for (std::size_t i = 0; i < std::min(most, reported.size()); ++i) {
    text += (i == 0 ? "" : ", ") + quoted(Value(std::string(reported[i])));
  }
  if (reported.size() > most) {
    text += " and " + std::to_string(reported.size() - most) + " more";
  }
  text += "; the search's metric is " + quoted(Value(std::string(metric)));
  const std::string_view meant = meant_metric(reported, metric);
  return meant.empty() ? text : text + " (did you mean " + quoted(Value(std::string(meant))) + "?)";
}

}  // namespace hpsearch::engine

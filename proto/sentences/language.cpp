#include "hpsearch/proto/sentences/language.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace hpsearch::sentences {
namespace {

/// The text up to `end`, which leaves `rest` with what follows it, without blanks around.
std::string_view take_until(char end, std::string_view& rest) noexcept {
  std::string_view text = rest.substr(0, rest.find(end));
  rest.remove_prefix(std::min(rest.size(), text.size() + 1));
  const std::size_t begin = text.find_first_not_of(" \t");
  text = begin == std::string_view::npos ? std::string_view() : text.substr(begin);
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

/// How much an entry is preferred, from its parameters: 1 without `q`. Nothing: they can't be read.
std::optional<double> weight_in(std::string_view parameters) noexcept {
  double weight = 1;
  while (!parameters.empty()) {
    const std::string_view one = take_until(';', parameters);
    if (!one.starts_with("q=") && !one.starts_with("Q=")) {
      continue;
    }
    const char* const end = one.data() + one.size();
    const auto read = std::from_chars(one.data() + 2, end, weight, std::chars_format::fixed);
    if (read.ec != std::errc() || read.ptr != end || !(weight >= 0 && weight <= 1)) {
      return std::nullopt;
    }
  }
  return weight;
}

/// Whether a language range is this language or a kind of it: "zh", "zh-CN", "ZH-Hant-TW".
bool is_kind_of(std::string_view range, std::string_view language) noexcept {
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  return range.size() >= language.size() &&
         std::equal(language.begin(), language.end(), range.begin(),
                    [&same](char wanted, char given) { return same(given, wanted); }) &&
         (range.size() == language.size() || range[language.size()] == '-');
}

}  // namespace

Language language_for(std::string_view accept_language) noexcept {
  Language best = Language::english;
  double most = 0;
  while (!accept_language.empty()) {
    std::string_view parameters = take_until(',', accept_language);
    const std::string_view range = take_until(';', parameters);
    const bool is_chinese = is_kind_of(range, "zh");
    if (!is_chinese && range != "*" && !is_kind_of(range, "en")) {
      continue;
    }
    if (const auto weight = weight_in(parameters); weight && *weight > most) {
      most = *weight;
      best = is_chinese ? Language::chinese : Language::english;
    }
  }
  return best;
}

std::string_view name_of(Language language) noexcept {
  return language == Language::chinese ? "zh-CN" : "en";
}

}  // namespace hpsearch::sentences

#include "hpsearch/jobs/patterns/suggested_pattern.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <vector>

#include "hpsearch/engine/experiment/absent_metric.hpp"
#include "hpsearch/jobs/patterns/metric_pattern.hpp"

namespace hpsearch::patterns {
namespace {

constexpr std::size_t longest_line = 512;

/// Up to three words and the characters between them and a number, as "Val loss: 0.5" and {"val_loss": 0.5}.
const re2::RE2& named_number() {
  static const re2::RE2 expression(
      R"(([A-Za-z_][\w./-]*(?: [A-Za-z][\w./-]*){0,2})(["']?[ \t]*[:=]?[ \t]*))"
      R"(([-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|(?i:[-+]?nan|[-+]?inf)\b))");
  return expression;
}

/// "Epoch [3/30]", "step=12", and "[12]" at the beginning of a line.
const re2::RE2& step_number() {
  static const re2::RE2 expression(
      R"(((?i:\b(?:epoch|global_step|step|iteration|iter|round|batch))["']?[ \t]*[:=#]?[ \t]*[\[(]?|^\[)(\d+))");
  return expression;
}

/// A regular expression that matches exactly this text.
std::string literal(std::string_view text) {
  constexpr std::string_view special = "\\.+*?()|[]{}^$";
  std::string out;
  for (const char c : text) {
    if (c == '\t') {
      out += "\\t";
      continue;
    }
    out += special.find(c) != std::string_view::npos ? "\\" : "";
    out += c;
  }
  return out;
}

/// A piece of a line, and the number directly after it.
struct Numbered {
  std::string_view before;
  std::string_view number;
};

/// The text before the first number that is named like the metric.
std::optional<Numbered> find_metric(std::string_view line, std::string_view metric) {
  re2::StringPiece rest(line.data(), line.size());
  re2::StringPiece name;
  re2::StringPiece between;
  re2::StringPiece number;
  while (re2::RE2::FindAndConsume(&rest, named_number(), &name, &between, &number)) {
    // The name may be only the last of several words: "train epoch 3".
    for (std::size_t at = 0; at < name.size();) {
      const std::string_view words(name.data() + at, name.size() - at);
      const bool is_short = words.size() < 3 && words.size() != metric.size();
      if (!is_short && engine::names_the_same_metric(words, metric)) {
        return Numbered{{words.data(), words.size() + between.size()}, {number.data(), number.size()}};
      }
      const std::size_t blank = words.find(' ');
      at = blank == std::string_view::npos ? name.size() : at + blank + 1;
    }
  }
  return std::nullopt;
}

std::optional<Numbered> find_step(std::string_view text) {
  re2::StringPiece before;
  re2::StringPiece number;
  if (!re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), step_number(), &before, &number)) {
    return std::nullopt;
  }
  return Numbered{{before.data(), before.size()}, {number.data(), number.size()}};
}

/// The candidates, the simplest first.
std::vector<std::string> candidates(std::string_view line, const Numbered& metric,
                                    const std::optional<Numbered>& step) {
  const std::string end = literal(metric.before) + "{number}";
  if (!step) {
    return {end, "\\b" + end, "^" + end};
  }
  const bool begins_the_line = step->before == "[" && step->before.data() == line.data();
  const std::string begin = (begins_the_line ? "^" : "") + literal(step->before) + "{step}";
  const char* const behind_step = step->number.data() + step->number.size();
  const std::string_view between(behind_step, static_cast<std::size_t>(metric.before.data() - behind_step));
  std::vector<std::string> out;
  if (between.size() <= 8 && between.find_first_of("0123456789") == std::string_view::npos) {
    out.push_back(begin + literal(between) + end);
  }
  out.push_back(begin + ".*" + end);
  out.push_back(begin + ".*?\\b" + end);
  return out;
}

bool reads(const std::string& text, std::string_view line, const Numbered& metric,
           const std::optional<Numbered>& step) {
  const engine::Result<MetricPattern> pattern = MetricPattern::compile(text);
  if (!pattern) {
    return false;
  }
  const std::optional<MetricPattern::Found> found = pattern->find(line);
  return found && found->value.data() == metric.number.data() &&
         found->step.has_value() == step.has_value() && (!step || found->step->data() == step->number.data());
}

}  // namespace

std::optional<std::string> suggested_pattern(std::string_view line, std::string_view metric) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; };
  if (line.size() > longest_line || std::any_of(line.begin(), line.end(), is_control)) {
    return std::nullopt;
  }
  const std::optional<Numbered> number = find_metric(line, metric);
  if (!number) {
    return std::nullopt;
  }
  const std::optional<Numbered> step =
      find_step(line.substr(0, static_cast<std::size_t>(number->before.data() - line.data())));
  for (const std::string& text : candidates(line, *number, step)) {
    if (reads(text, line, *number, step)) {
      return text;
    }
  }
  return std::nullopt;
}

}  // namespace hpsearch::patterns

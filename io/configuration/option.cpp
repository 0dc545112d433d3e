#include "hpsearch/io/configuration/option.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <optional>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/config/section.hpp"

namespace hpsearch::configuration {
namespace {

using engine::Value;
using Kind = Take::Kind;

Take take_text(Kind kind, std::string& place, Check check) {
  return {kind, [&place, check = std::move(check)](const std::string& text) {
            std::string allowed = check ? check(text) : std::string();
            if (allowed.empty()) {
              place = text;
            }
            return allowed;
          }};
}

/// A plain number of seconds, or a time as in an experiment file.
std::optional<double> seconds_of(const std::string& text) {
  if (const auto number = engine::number_in<double>(text)) {
    return std::isfinite(*number) ? number : std::nullopt;
  }
  const Value tree(Value::Map{{"time", text}});
  engine::Findings findings;
  const auto time = engine::Section(&tree, "", findings).time("time");
  return time ? std::optional(static_cast<double>(time->in_micros()) / 1e6) : std::nullopt;
}

std::optional<std::uint64_t> bytes_of(std::string text) {
  try {
    const std::string problem = CLI::AsSizeValue(/*kb_is_1000=*/true)(text);
    return problem.empty() ? engine::number_in<std::uint64_t>(text) : std::nullopt;
  } catch (const CLI::Error&) {
    return std::nullopt;
  }
}

/// "300" or "0.05".
std::string plain(double number) {
  return number == std::floor(number) ? std::to_string(static_cast<std::int64_t>(number))
                                      : engine::short_number(number);
}

std::string upper(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c == '-' ? '_' : c;
  }
  return out;
}

/// A text in a cell of a table in Markdown.
std::string in_cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '|' || c == '*' || c == '<' ? std::string{'\\', c} : std::string(1, c);
  }
  return out;
}

}  // namespace

Take text_in(std::string& place, Check check) {
  return take_text(Kind::text, place, std::move(check));
}

Take scalar_in(std::string& place, Check check) {
  return take_text(Kind::scalar, place, std::move(check));
}

Take choice_in(std::string& place, std::vector<std::string_view> allowed) {
  return text_in(place, [allowed = std::move(allowed)](const std::string& text) {
    return std::find(allowed.begin(), allowed.end(), text) != allowed.end() ? std::string()
                                                                            : engine::any_of(allowed);
  });
}

Take on_off_in(bool& place) {
  return {Kind::on_off, [&place](const std::string& text) {
            const Value tree(Value::Map{{"switch", text == "1" ? "on" : text == "0" ? "off" : text}});
            engine::Findings findings;
            const auto value = engine::Section(&tree, "", findings).boolean("switch");
            place = value.value_or(place);
            return std::string(value ? "" : "true or false");
          }};
}

Take list_in(std::vector<std::string>& place, Check check) {
  return {Kind::list, [&place, check = std::move(check)](const std::string& text) {
            std::string allowed = check ? check(text) : std::string();
            if (allowed.empty()) {
              place.push_back(text);
            }
            return allowed;
          }};
}

Take bytes_in(std::uint64_t& place) {
  return {Kind::scalar, [&place](const std::string& text) {
            const auto bytes = bytes_of(text);
            place = bytes.value_or(place);
            return std::string(bytes ? "" : "a size, such as 500MiB or 20GiB");
          }};
}

Take take_integer(std::function<void(std::uint64_t)> store, std::uint64_t least, std::uint64_t most) {
  return {Kind::scalar, [store = std::move(store), least, most](const std::string& text) {
            const auto number = engine::number_in<std::uint64_t>(text);
            const bool is_right = number && *number >= least && *number <= most;
            if (is_right) {
              store(*number);
            }
            return is_right ? std::string() : engine::integers_between(least, most);
          }};
}

Take take_seconds(std::function<void(double)> store, double least, double most) {
  return {Kind::scalar, [store = std::move(store), least, most](const std::string& text) {
            const auto seconds = seconds_of(text);
            const bool is_right = seconds && *seconds >= least && *seconds <= most;
            if (is_right) {
              store(*seconds);
            }
            return is_right ? std::string()
                            : "a number of seconds from " + plain(least) + " to " + plain(most) +
                                  ", or a time such as 90s, 15m or 7d";
          }};
}

std::string Program::variable_prefix() const {
  return upper(name) + "_";
}

std::string Program::variable_of(const Option& option) const {
  const auto [section, own] = parts_of(option.key);
  return variable_prefix() + upper(section) + "__" + upper(own);
}

const Option* Program::find(std::string_view key) const {
  const auto found =
      std::find_if(options.begin(), options.end(), [key](const Option& option) { return option.key == key; });
  return found == options.end() ? nullptr : &*found;
}

std::pair<std::string, std::string> parts_of(const std::string& key) {
  const std::size_t dot = key.find('.');
  return {key.substr(0, dot), key.substr(dot + 1)};
}

std::string describe(const Program& program) {
  std::string table =
      "| key | flag | default | SIGHUP | meaning |\n"
      "|---|---|---|---|---|\n";
  for (const Option& option : program.options) {
    const std::string value = option.take.kind == Kind::list ? option.value + " …" : option.value;
    table += "| `" + option.key + "` | `" + option.flag + (value.empty() ? "" : " " + value) + "` | " +
             (option.usual.empty() ? "–" : in_cell(option.usual)) + " | " +
             (option.change == Change::by_hang_up ? "yes" : "restart") + " | " + in_cell(option.meaning) +
             " |\n";
  }
  return table;
}

}  // namespace hpsearch::configuration

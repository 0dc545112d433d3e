#include "cli/verbs/argument_checks.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <utility>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::cli {

std::string in_quotes(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

CLI::Validator integer_from(std::uint64_t least, std::uint64_t most) {
  return {[least, most](std::string& text) {
            const auto number = engine::number_in<std::uint64_t>(text);
            if (!number || *number < least || *number > most) {
              return in_quotes(text) + " is not an integer " +
                     (most == UINT64_MAX ? "of at least " + std::to_string(least)
                                         : "from " + std::to_string(least) + " to " + std::to_string(most));
            }
            text = std::to_string(*number);
            return std::string();
          },
          most == UINT64_MAX ? "" : "[" + std::to_string(least) + " - " + std::to_string(most) + "]"};
}

CLI::Validator not_empty() {
  return {[](const std::string& text) { return std::string(text.empty() ? "is empty; give a path" : ""); },
          ""};
}

CLI::Validator one_of(std::vector<std::string> words) {
  std::string allowed;
  std::string listed;
  for (const std::string& word : words) {
    allowed += (allowed.empty() ? "" : &word == &words.back() ? " or " : ", ") + word;
    listed += (listed.empty() ? "{" : ",") + word;
  }
  return {[words = std::move(words), allowed](const std::string& text) {
            if (std::find(words.begin(), words.end(), text) != words.end()) {
              return std::string();
            }
            const std::string_view near = engine::nearest(text, words);
            return in_quotes(text) + " is not " + allowed +
                   (near.empty() ? "" : "; did you mean " + in_quotes(near) + "?");
          },
          listed + "}"};
}

CLI::Validator number_from(double least, double most) {
  const std::string range = engine::short_number(least) + " to " + engine::short_number(most);
  return {[=](const std::string& text) {
            const auto number = engine::number_in<double>(text);
            return number && *number >= least && *number <= most
                       ? std::string()
                       : in_quotes(text) + " is not a number from " + range;
          },
          ""};
}

CLI::Validator seconds_above(bool zero_too) {
  return {[zero_too](const std::string& text) {
            const auto number = engine::number_in<double>(text);
            return number && std::isfinite(*number) && (zero_too ? *number >= 0 : *number > 0)
                       ? std::string()
                       : in_quotes(text) + " is not a number of seconds" +
                             (zero_too ? " of at least 0" : " above 0");
          },
          ""};
}

}  // namespace hpsearch::cli

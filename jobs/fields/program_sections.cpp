#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

#include "fields/sections.hpp"
#include "hpsearch/engine/space/numbers.hpp"

namespace hpsearch::jobs {

void read_entrypoint(Section& top, Entrypoint& entrypoint) {
  const Value* value = top.any("entrypoint");
  if (value == nullptr) {
    top.missing("entrypoint", "a shell command, or a list of words run without a shell");
    return;
  }
  const auto is_bad_word = [](std::string_view word) { return word.find('\0') != std::string_view::npos; };
  if (const std::string* line = value->as_text()) {
    if (line->find_first_not_of(" \t\r\n") == std::string::npos || is_bad_word(*line)) {
      top.problem("entrypoint", "is " + quoted(*value), "a shell command");
    }
    entrypoint.command = *line;
    return;
  }
  const Value::List* list = value->as_list();
  if (list == nullptr || list->empty()) {
    top.problem("entrypoint", "is " + quoted(*value),
                "a shell command, or a list of words run without a shell");
    return;
  }
  std::vector<std::string> words;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Value& item = (*list)[i];
    if (const std::string* word = item.as_text();
        word != nullptr && !is_bad_word(*word) && (i > 0 || !word->empty())) {
      words.push_back(*word);
    } else if (const std::int64_t* number = item.as_integer(); number != nullptr && i > 0) {
      words.push_back(std::to_string(*number));
    } else {
      // Reals and booleans have more than one spelling, and the program sees only one.
      top.problem("entrypoint[" + std::to_string(i) + "]", "is " + quoted(item),
                  i == 0 ? "the program's name" : "a string; put it in quotes");
    }
  }
  entrypoint.command = std::move(words);
}

void read_metrics(Section& top, std::map<std::string, std::string>& metrics) {
  const Value::Map* map = top.map("metrics");
  if (map == nullptr) {
    return;
  }
  for (const auto& [name, pattern] : *map) {
    const std::string* text = pattern.as_text();
    if (name.empty() || text == nullptr || text->empty()) {
      top.problem("metrics." + name, "is " + quoted(pattern),
                  "a metric's name, and a regular expression for it");
    } else {
      metrics.emplace(name, *text);
    }
  }
}

}  // namespace hpsearch::jobs

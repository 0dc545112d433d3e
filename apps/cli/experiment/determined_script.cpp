#include "cli/experiment/determined_script.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

namespace hpsearch::cli {

using engine::Value;

namespace {

constexpr std::uintmax_t longest_script = 4 * 1024 * 1024;

std::vector<std::string> words_of(const Value& entrypoint) {
  std::vector<std::string> words;
  if (const std::string* line = entrypoint.as_text()) {
    std::istringstream stream(*line);
    for (std::string word; stream >> word;) {
      words.push_back(word);
    }
  } else if (const Value::List* list = entrypoint.as_list()) {
    for (const Value& item : *list) {
      if (const std::string* word = item.as_text()) {
        words.push_back(*word);
      }
    }
  }
  return words;
}

/// Whether the line imports it at the top of the file, not conditionally.
bool imports(std::string_view line, std::string_view package) {
  for (const std::string_view word : {"import ", "from "}) {
    if (line.starts_with(word) && line.substr(word.size()).starts_with(package)) {
      const std::string_view rest = line.substr(word.size() + package.size());
      return rest.empty() || std::string_view(" .,;\r\t").find(rest.front()) != std::string_view::npos;
    }
  }
  return false;
}

bool is_written_for_determined(const std::filesystem::path& script) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(script, error) ||
      std::filesystem::file_size(script, error) > longest_script) {
    return false;
  }
  std::ifstream file(script);
  bool found = false;
  for (std::string line; std::getline(file, line);) {
    if (imports(line, "hpsearch")) {
      return false;
    }
    found = found || imports(line, "determined");
  }
  return found;
}

}  // namespace

std::optional<std::string> determined_script(const Value& tree, const std::filesystem::path& context) {
  const Value* entrypoint = tree.at_path("entrypoint");
  if (entrypoint == nullptr || tree.at_path("launch") != nullptr || tree.at_path("metrics") != nullptr) {
    return std::nullopt;
  }
  const std::vector<std::string> words = words_of(*entrypoint);
  // The harness starts its entrypoint literally: placeholders in it would not be replaced.
  if (std::any_of(words.begin(), words.end(),
                  [](const std::string& word) { return word.find('{') != std::string::npos; })) {
    return std::nullopt;
  }
  for (const std::string& word : words) {
    if (word.ends_with(".py") && std::filesystem::path(word).is_relative() &&
        is_written_for_determined(context / word)) {
      return word;
    }
  }
  return std::nullopt;
}

}  // namespace hpsearch::cli

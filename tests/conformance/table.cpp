#include "conformance/table.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace hpsearch::conformance {

namespace {

using engine::Value;

template <class Number>
std::optional<Number> whole_text_as(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

/// int_axes.txt: IntAxes
std::string subject_of(const std::filesystem::path& file) {
  std::string subject;
  bool word_begins = true;
  for (const char letter : file.stem().string()) {
    if (letter != '_') {
      subject += word_begins ? static_cast<char>(std::toupper(static_cast<unsigned char>(letter))) : letter;
    }
    word_begins = letter == '_';
  }
  return subject;
}

void read_line(std::string_view text, const std::string& subject, std::string where,
               std::vector<Case>& cases) {
  constexpr std::string_view arrow = " ->";
  Line line;
  line.where = std::move(where);
  const std::size_t question_ends = text.find(arrow);
  line.words = words_of(text.substr(0, question_ends));
  if (question_ends != std::string_view::npos) {
    std::string answer;
    for (const std::string& word : words_of(text.substr(question_ends + arrow.size()))) {
      answer += (answer.empty() ? "" : " ") + word;
    }
    line.answer = std::move(answer);
  }
  if (line.words.empty()) {
    return;
  }
  if (line.words.front() == "case" && line.words.size() == 2) {
    cases.push_back({subject + line.words[1], {}});
  } else if (cases.empty()) {
    throw std::runtime_error(line.where + ": a table begins with a case");
  } else {
    cases.back().lines.push_back(std::move(line));
  }
}

std::vector<Case> read_table(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  std::vector<Case> cases;
  std::ifstream in(file);
  std::string text;
  for (int number = 1; std::getline(in, text); ++number) {
    text.erase(std::min(text.find('#'), text.size()));
    read_line(text, subject_of(file), name + ":" + std::to_string(number), cases);
  }
  if (cases.empty()) {
    throw std::runtime_error(name + ": there is no case in it");
  }
  for (const Case& one : cases) {
    if (std::none_of(one.lines.begin(), one.lines.end(),
                     [](const Line& line) { return line.answer.has_value(); })) {
      throw std::runtime_error(name + ": " + one.name + " asks nothing");
    }
  }
  return cases;
}

}  // namespace

void PrintTo(const Case& one, std::ostream* out) {
  *out << (one.lines.empty() ? one.name : one.lines.front().where);
}

std::vector<Case> read_tables(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".txt") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    throw std::runtime_error("no table in " + folder);
  }
  std::vector<Case> cases;
  for (const std::filesystem::path& file : files) {
    std::vector<Case> table = read_table(file);
    std::move(table.begin(), table.end(), std::back_inserter(cases));
  }
  return cases;
}

Value value_from(std::string_view text) {
  if (text == "null") {
    return Value();
  }
  if (text == "true" || text == "false") {
    return Value(text == "true");
  }
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    return Value(text.substr(1, text.size() - 2));
  }
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    Value::List list;
    std::string_view rest = text.substr(1, text.size() - 2);
    while (!rest.empty()) {
      std::size_t comma = 0;
      for (int depth = 0; comma < rest.size() && (depth > 0 || rest[comma] != ','); ++comma) {
        depth += rest[comma] == '[' ? 1 : rest[comma] == ']' ? -1 : 0;
      }
      list.push_back(value_from(rest.substr(0, comma)));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    return list;
  }
  if (const auto integer = whole_text_as<std::int64_t>(text)) {
    return *integer;
  }
  if (const auto real = whole_text_as<double>(text)) {
    return *real;
  }
  throw std::runtime_error("not a value: " + std::string(text));
}

std::vector<std::pair<std::string, Value>> assignments(const std::vector<std::string>& words,
                                                       std::size_t first) {
  std::vector<std::pair<std::string, Value>> found;
  for (std::size_t i = first; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string::npos) {
      throw std::runtime_error("not name=value: " + words[i]);
    }
    found.emplace_back(words[i].substr(0, equals), value_from(std::string_view(words[i]).substr(equals + 1)));
  }
  return found;
}

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) {
    words.push_back(std::move(word));
  }
  return words;
}

void put(Value& tree, std::string_view path, Value value) {
  Value* here = &tree;
  while (true) {
    const std::size_t dot = path.find('.');
    if (here->is_null()) {
      *here = Value::Map();
    }
    here = &(*here->as_map())[path.substr(0, dot)];
    if (dot == std::string_view::npos) {
      break;
    }
    path.remove_prefix(dot + 1);
  }
  *here = std::move(value);
}

}  // namespace hpsearch::conformance

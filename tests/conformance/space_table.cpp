#include "conformance/space_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
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

std::pair<std::string, Value> assignment(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) {
    throw std::runtime_error("not name=value: " + word);
  }
  return {word.substr(0, equals), value_from(std::string_view(word).substr(equals + 1))};
}

engine::Cardinality cardinality_from(const std::string& digits) {
  engine::Cardinality number = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') {
      throw std::runtime_error("not a number: " + digits);
    }
    number = number * 10 + static_cast<unsigned>(digit - '0');
  }
  return number;
}

void read_line(const std::string& line, std::vector<SpaceCase>& cases) {
  std::istringstream words(line);
  std::string first;
  words >> first;
  std::string word;
  if (first == "space") {
    words >> word;
    cases.emplace_back();
    cases.back().name = word;
    return;
  }
  if (cases.empty()) {
    throw std::runtime_error("a table begins with a space");
  }
  SpaceCase& here = cases.back();
  if (first == "grid" || first == "values") {
    std::string rest;
    std::getline(words >> std::ws, rest);
    (first == "grid" ? here.grid : here.values) = rest;
  } else if (first == "point") {
    words >> word;
    const engine::Cardinality index = cardinality_from(word);
    Value point = Value::Map();
    while (words >> word) {
      auto [path, value] = assignment(word);
      put(point, path, std::move(value));
    }
    here.points.emplace_back(index, std::move(point));
  } else {
    std::string path;
    words >> path;
    Value::Map range{{"type", first}};
    while (words >> word) {
      auto [field, value] = assignment(word);
      range[field] = std::move(value);
    }
    put(here.hyperparameters, path, std::move(range));
  }
}

}  // namespace

std::vector<SpaceCase> read_space_table(const std::string& file) {
  std::ifstream in(file);
  if (!in) {
    throw std::runtime_error("cannot read " + file);
  }
  std::vector<SpaceCase> cases;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    line.erase(std::min(line.find('#'), line.size()));
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      continue;
    }
    try {
      read_line(line, cases);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(file + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  return cases;
}

bool about_equal(const Value& a, const Value& b) {
  if (a.as_real() != nullptr && b.as_real() != nullptr) {
    return std::abs(*a.as_real() - *b.as_real()) <= 4e-16 * std::abs(*b.as_real());
  }
  const Value::Map* map = a.as_map();
  const Value::Map* other = b.as_map();
  if (map == nullptr || other == nullptr) {
    return a == b;
  }
  if (map->size() != other->size()) {
    return false;
  }
  for (const auto& [key, value] : *map) {
    const Value* twin = other->find(key);
    if (twin == nullptr || !about_equal(value, *twin)) {
      return false;
    }
  }
  return true;
}

}  // namespace hpsearch::conformance

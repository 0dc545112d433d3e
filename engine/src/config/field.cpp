#include "hpsearch/engine/config/field.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/space/numbers.hpp"

namespace hpsearch::engine::kind {
namespace {

Value whole(std::uint64_t count) {
  return static_cast<std::int64_t>(std::min(count, most_integer));
}

std::string with_thousands(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) {
    text.insert(at - 3, ",");
  }
  return text;
}

constexpr double shortest_seconds = 1e-6;  // Times are kept in microseconds.
constexpr double longest_seconds = 1e9;    // Some thirty years: micros of it fit everywhere.

std::optional<double> seconds_in(char unit) {
  switch (unit) {
    case 's':
      return 1;
    case 'm':
      return 60;
    case 'h':
      return 3600;
    case 'd':
      return 86400;
    default:
      return std::nullopt;
  }
}

/// "90m", "1h 30m", "1.5d": numbers with their units, added up.
std::optional<double> seconds_of(std::string_view text) {
  double seconds = 0;
  const char* at = text.data();
  const char* end = at + text.size();
  const auto skip_blanks = [&] {
    while (at != end && *at == ' ') {
      ++at;
    }
  };
  skip_blanks();
  do {
    double number = 0;
    const auto [rest, error] = std::from_chars(at, end, number, std::chars_format::fixed);
    const std::optional<double> unit = error == std::errc() && rest != end ? seconds_in(*rest) : std::nullopt;
    if (!unit || !(number >= 0)) {
      return std::nullopt;
    }
    seconds += number * *unit;
    at = rest + 1;
    skip_blanks();
  } while (at != end);
  return seconds;
}

std::optional<double> seconds_of(const Value& value) {
  if (const std::string* text = value.as_text()) {
    return seconds_of(std::string_view(*text));
  }
  return finite_number(value);
}

}  // namespace

Value Integer::write(std::uint64_t value) const {
  return absent_is_zero && value == 0 ? Value() : whole(value);
}

std::string Integer::range() const {
  return greatest == most_integer ? "integer from " + std::to_string(least)
                                  : std::to_string(least) + " to " + with_thousands(greatest);
}

Value Integer::schema() const {
  Value::Map schema{{"type", "integer"}, {"minimum", whole(least)}};
  if (greatest != most_integer) {
    schema["maximum"] = whole(greatest);
  }
  return schema;
}

std::string Number::range() const {
  return above ? "number above " + short_number(*above) : "number";
}

Value Number::schema() const {
  Value::Map schema{{"type", "number"}};
  if (above) {
    schema["exclusiveMinimum"] = *above;
  }
  return schema;
}

std::optional<double> Share::read(Section& section, std::string_view key) const {
  const Value* value = section.any(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  const double number = value->number_or(-1);
  if (number >= 0 && number <= greatest) {
    return number;
  }
  section.problem(key, "is " + quoted(*value), allowed());
  return std::nullopt;
}

std::optional<double> Amount::read(Section& section, std::string_view key) const {
  const std::optional<double> number = section.number(key);
  if (number && *number < 0) {
    section.problem(key, "is " + quoted(Value(*number)), allowed());
    return std::nullopt;
  }
  return number;
}

std::string Share::range() const {
  return "number from 0 to " + short_number(greatest);
}

Value ListOfTexts::write(const std::vector<std::string>& value) const {
  Value::List list;
  for (const std::string& item : value) {
    list.emplace_back(item);
  }
  return list;
}

Value ListOfTexts::schema() const {
  return Value::Map{{"type", "array"}, {"items", Value::Map{{"type", "string"}}}};
}

std::optional<std::vector<std::string>> Conditions::read(Section& section, std::string_view key) const {
  const Value* given = section.any(key);
  if (given == nullptr) {
    return std::nullopt;
  }
  if (const std::string* text = given->as_text()) {
    return std::vector{*text};
  }
  if (given->as_list() == nullptr) {
    section.problem(key, "is " + quoted(*given), allowed());
    return std::nullopt;
  }
  return section.texts(key);
}

Value Conditions::schema() const {
  return Value::Map{{"type", Value::List{"string", "array"}}, {"items", Value::Map{{"type", "string"}}}};
}

std::optional<std::map<std::string, std::string>> MapOfTexts::read(Section& section,
                                                                   std::string_view key) const {
  const Value::Map* given = section.map(key);
  if (given == nullptr) {
    return std::nullopt;
  }
  std::map<std::string, std::string> found;
  for (const auto& [name, value] : *given) {
    const std::string* text = value.as_text();
    if (name.empty() || text == nullptr) {
      section.problem(path_below(key, name), "is " + quoted(value),
                      name.empty() ? "a name for each string" : "a string");
    } else {
      found[name] = *text;
    }
  }
  return found;
}

Value MapOfTexts::write(const std::map<std::string, std::string>& value) const {
  Value::Map map;
  for (const auto& [name, text] : value) {
    map[name] = text;
  }
  return map;
}

Value MapOfTexts::schema() const {
  return Value::Map{{"type", "object"},
                    {"propertyNames", Value::Map{{"minLength", 1}}},
                    {"additionalProperties", Value::Map{{"type", "string"}}}};
}

std::string Time::allowed() const {
  return "a length of time from a microsecond to 1e9 seconds: seconds as 3600, or text as 90m, 1h 30m or 2d";
}

std::optional<Duration> Time::read(Section& section, std::string_view key) const {
  return section.time(key);
}

}  // namespace hpsearch::engine::kind

namespace hpsearch::engine {

std::optional<Duration> Section::time(std::string_view key) {
  const Value* value = any(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  const std::optional<double> seconds = kind::seconds_of(*value);
  if (seconds && *seconds >= kind::shortest_seconds && *seconds <= kind::longest_seconds) {
    return Duration::micros(std::llround(*seconds * 1e6));
  }
  wrong(key, *value, kind::Time().allowed());
  return std::nullopt;
}

}  // namespace hpsearch::engine

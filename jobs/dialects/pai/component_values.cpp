#include "dialects/pai/component_values.hpp"

#include <algorithm>
#include <limits>

#include "fields/sections.hpp"
#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/space/numbers.hpp"

namespace hpsearch::jobs {

namespace {

/// Counts characters, not bytes, as Python does.
std::ptrdiff_t characters(const std::string& text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

/// The number that is compared with `least` and `greatest`.
double measure(const Value& value) {
  const std::string* text = value.as_text();
  return text != nullptr ? static_cast<double>(characters(*text)) : value.number_or(0);
}

}  // namespace

std::optional<Value> as_type(const Value& value, ComponentType type) {
  switch (type) {
    case ComponentType::integer:
      if (const auto whole = whole_number(value)) {
        return Value(*whole);
      }
      return std::nullopt;
    case ComponentType::real:
      if (const auto number = finite_number(value)) {
        return Value(*number);
      }
      return std::nullopt;
    case ComponentType::text:
      return value.as_text() != nullptr ? std::optional(value) : std::nullopt;
    case ComponentType::boolean:
      return value.as_bool() != nullptr ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

bool allows(const ComponentParameter& parameter, const Value& value) {
  const std::optional<Value> typed = as_type(value, parameter.type);
  if (!typed) {
    return false;
  }
  if (!parameter.choices.empty()) {
    return std::find(parameter.choices.begin(), parameter.choices.end(), *typed) != parameter.choices.end();
  }
  return (!parameter.least || measure(*typed) >= *parameter.least) &&
         (!parameter.greatest || measure(*typed) <= *parameter.greatest);
}

std::string bound_text(double bound) {
  return bound == std::numeric_limits<double>::denorm_min() ? "above 0" : short_number(bound);
}

std::string described(const ComponentParameter& parameter) {
  std::string text(name_of(parameter.type));
  if (!parameter.choices.empty()) {
    text += ": one of ";
    for (std::size_t i = 0; i < parameter.choices.size(); ++i) {
      text += (i == 0 ? "" : ", ") + quoted(parameter.choices[i]);
    }
    return text;
  }
  const char* of = parameter.type == ComponentType::text ? " of a length" : "";
  if (parameter.least || parameter.greatest) {
    text += of;
  }
  if (parameter.least) {
    text += " from " + bound_text(*parameter.least);
  }
  if (parameter.greatest) {
    text += (parameter.least ? " to " : " up to ") + short_number(*parameter.greatest);
  }
  return text;
}

}  // namespace hpsearch::jobs

#include "hpsearch/jobs/fields/resources_fields.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/space/numbers.hpp"

namespace hpsearch::jobs {

namespace {

// "128M", "1.5G", "64k", "512b" as Docker reads them.
bool is_memory_size(const Value& value) {
  if (const std::optional<std::int64_t> bytes = engine::whole_number(value)) {
    return *bytes >= 0;
  }
  const std::string* text = value.as_text();
  if (text == nullptr) {
    return false;
  }
  double number = 0;
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, number, std::chars_format::fixed);
  if (error != std::errc() || !(number >= 0)) {
    return false;
  }
  constexpr std::string_view suffixes[] = {"", "b", "k", "kb", "m", "mb", "g", "gb", "t", "tb"};
  std::string suffix(rest, end);
  std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return std::find(std::begin(suffixes), std::end(suffixes), suffix) != std::end(suffixes);
}

}  // namespace

namespace kind {

std::optional<Value> MemorySize::read(Section& section, std::string_view key) const {
  const Value* size = section.any(key);
  if (size == nullptr) {
    return std::nullopt;
  }
  if (!is_memory_size(*size)) {
    section.problem(key, "is " + engine::quoted(*size), "bytes, or a size as 128M or 1.5G");
  }
  return *size;
}

Value MemorySize::schema() const {
  return Value::Map{
      {"anyOf",
       Value::List{Value::Map{{"type", "integer"}, {"minimum", 0}},
                   Value::Map{{"type", "string"},
                              {"pattern", R"(^([0-9]+(\.[0-9]*)?|\.[0-9]+)([bB]|[kKmMgGtT][bB]?)?$)"}}}}};
}

std::optional<Value::List> Devices::read(Section& section, std::string_view key) const {
  const Value::List* devices = section.list(key);
  for (std::size_t i = 0; devices != nullptr && i < devices->size(); ++i) {
    if ((*devices)[i].as_map() == nullptr && (*devices)[i].as_text() == nullptr) {
      section.problem(std::string(key) + "[" + std::to_string(i) + "]", "is " + engine::quoted((*devices)[i]),
                      "a map of host_path, container_path and mode");
    }
  }
  return devices != nullptr ? std::optional(*devices) : std::nullopt;
}

}  // namespace kind

}  // namespace hpsearch::jobs

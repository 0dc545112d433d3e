#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string>

#include "fields/sections.hpp"
#include "hpsearch/engine/space/numbers.hpp"

namespace hpsearch::jobs {

namespace {

using engine::whole_number;

// "128M", "1.5G", "64k", "512b" as Docker reads them.
bool is_memory_size(const Value& value) {
  if (const std::optional<std::int64_t> bytes = whole_number(value)) {
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

void read_devices(Section& section) {
  const Value::List* devices = section.list("devices");
  for (std::size_t i = 0; devices != nullptr && i < devices->size(); ++i) {
    const std::string key = "devices[" + std::to_string(i) + "]";
    if ((*devices)[i].as_map() == nullptr && (*devices)[i].as_text() == nullptr) {
      section.problem(key, "is " + quoted((*devices)[i]), "a map of host_path, container_path and mode");
    }
  }
}

}  // namespace

void read_unused_resources(Section& section, bool& single_node, Value::Map& kept) {
  const auto keep = [&](std::string_view key, bool says_something, std::string_view why) {
    if (const Value* value = section.any(key)) {
      kept[key] = *value;
      if (says_something) {
        section.note(key, std::string(why));
      }
    }
  };
  if (const Value* size = section.any("shm_size"); size != nullptr && !is_memory_size(*size)) {
    section.problem("shm_size", "is " + quoted(*size), "bytes, or a size as 128M or 1.5G");
  }
  read_devices(section);
  const bool native_parallel = section.boolean("native_parallel").value_or(false);
  const bool labelled = !section.text("agent_label").value_or("").empty();
  single_node = section.boolean("is_single_node").value_or(false);
  keep("shm_size", true,
       "has no effect here: programs have the machine's own shared memory, in containers too");
  const Value* devices = section.any("devices");
  keep("devices", devices != nullptr && devices->as_list() != nullptr && !devices->as_list()->empty(),
       "has no effect here: programs have the devices of their slots");
  keep("native_parallel", native_parallel, "has no effect here");
  keep("agent_label", labelled, "has no effect here: resources.labels chooses workers by their labels");
  keep("is_single_node", false, "");
}

}  // namespace hpsearch::jobs

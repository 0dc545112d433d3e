// Prints the fields that the engine declares, and those that each searcher reads, as JSON: the input of
// experiment_fields.py.

#include "hpsearch/engine/config/describe_experiment.hpp"

#include <iostream>
#include <span>
#include <string_view>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/searchers/registry.hpp"

namespace {

using hpsearch::engine::Value;

Value list_of(std::span<const std::string_view> names) {
  Value::List list;
  for (const std::string_view name : names) {
    list.emplace_back(name);
  }
  return list;
}

}  // namespace

int main() {
  Value::Map sections;
  for (const auto& section : hpsearch::engine::describe_experiment()) {
    Value::List fields;
    for (const auto& field : section.fields) {
      fields.push_back(Value::Map{{"name", field.name},
                                  {"meaning", field.meaning},
                                  {"range", field.range},
                                  {"schema", field.schema},
                                  {"default", field.default_value},
                                  {"default_text", field.default_text}});
    }
    sections[section.name] = std::move(fields);
  }
  Value::List searchers;
  for (const auto& kind : hpsearch::searchers::registry()) {
    searchers.push_back(Value::Map{
        {"name", kind.name}, {"fields", list_of(kind.fields)}, {"required", list_of(kind.required)}});
  }
  std::cout << hpsearch::engine::compact_json(
                   Value::Map{{"sections", std::move(sections)}, {"searchers", std::move(searchers)}})
            << '\n';
}

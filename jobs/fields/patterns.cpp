#include "hpsearch/jobs/fields/patterns.hpp"

#include <utility>

#include "fields/sections.hpp"
#include "hpsearch/jobs/dialects/component.hpp"

namespace hpsearch::jobs {

namespace {

const Value* member(const Value& tree, std::string_view key) {
  return tree.as_map() != nullptr ? tree.as_map()->find(key) : nullptr;
}

void add(std::vector<PatternUse::Text>& texts, std::string path, const Value* value) {
  if (value == nullptr) {
    return;
  }
  if (const std::string* text = value->as_text()) {
    texts.push_back({std::move(path), *text});
  } else if (const Value::List* list = value->as_list()) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      add(texts, path + "[" + std::to_string(i) + "]", &(*list)[i]);
    }
  }
}

/// The texts that an experiment gives for one parameter: as a plain value, as a const, or in a categorical.
void add_given(std::vector<PatternUse::Text>& texts, const std::string& name, const Value& tree) {
  const Value* all = member(tree, "hyperparameters");
  const Value* given = all != nullptr ? member(*all, name) : nullptr;
  const std::string path = "hyperparameters." + name;
  add(texts, path, given);
  if (given != nullptr) {
    add(texts, path + ".val", member(*given, "val"));
    add(texts, path + ".vals", member(*given, "vals"));
  }
}

}  // namespace

std::vector<PatternUse> patterns_of(const Value& tree) {
  std::vector<PatternUse> uses;
  if (const Value* component = member(tree, "component");
      component != nullptr && component->as_map() != nullptr) {
    ParsedComponent parsed = parse_component(*component, "component");
    for (PatternUse& use : parsed.patterns) {
      if (use.purpose == PatternPurpose::value) {
        add_given(use.texts, use.parameter, tree);
      }
      uses.push_back(std::move(use));
    }
  }
  const Value* metrics = member(tree, "metrics");
  if (metrics == nullptr || metrics->as_map() == nullptr) {
    return uses;
  }
  for (const auto& [name, pattern] : *metrics->as_map()) {
    if (const std::string* text = pattern.as_text();
        text != nullptr && !text->empty()) {  // Otherwise its reader reports it.
      uses.push_back({.path = "metrics." + name, .pattern = *text});
    }
  }
  return uses;
}

}  // namespace hpsearch::jobs

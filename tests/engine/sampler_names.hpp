#pragma once

#include <string>
#include <vector>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/config/describe_experiment.hpp"

namespace hpsearch::engine {

/// Every value of `searcher.sampler`, in the order of SamplerName: tests that take one of these know a new
/// one by itself.
[[nodiscard]] inline const std::vector<std::string>& sampler_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found;
    for (const SectionDescription& section : describe_experiment()) {
      for (const FieldDescription& field : section.fields) {
        const Value* choices = field.name == "sampler" ? field.schema.at_path("enum") : nullptr;
        if (choices != nullptr) {
          for (const Value& name : *choices->as_list()) {
            found.push_back(*name.as_text());
          }
        }
      }
    }
    HPSEARCH_CHECK(found.size() >= 2, "the field names its samplers");
    return found;
  }();
  return names;
}

}  // namespace hpsearch::engine

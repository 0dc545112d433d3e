#pragma once

#include <string>
#include <vector>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::engine {

/// One field of an experiment file, as its page and its JSON Schema show it.
struct FieldDescription {
  std::string name;
  std::string meaning;       ///< Markdown.
  std::string range;         ///< Type and range, Markdown.
  Value schema;              ///< Draft-07 schema of its values other than null.
  Value default_value;       ///< null = none.
  std::string default_text;  ///< Instead of default_value, where that needs words.
};

/// The fields of one section that the engine declares in its table (src/config/experiment_fields.hpp). Fields
/// with rules of their own, such as `hyperparameters`, are not among them.
struct SectionDescription {
  std::string name;  ///< "" = the top of the file.
  std::vector<FieldDescription> fields;
};

/// All sections that have such fields.
[[nodiscard]] std::vector<SectionDescription> describe_experiment();

}  // namespace hpsearch::engine

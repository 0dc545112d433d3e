#pragma once

#include <string>
#include <vector>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

/// A comment line above a field.
struct YamlComment {
  std::string path;  ///< Dotted path of the field; the comment of a missing field is above its section.
  std::string text;
};

/// An experiment as people write it: the sections in the documentation's order, ranges on one line, comments
/// above their fields. Reads back as the same value.
[[nodiscard]] std::string commented_yaml(const engine::Value::Map& experiment,
                                         const std::vector<YamlComment>& comments);

}  // namespace hpsearch::cli

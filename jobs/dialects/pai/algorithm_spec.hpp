#pragma once

#include <map>
#include <string>
#include <string_view>

#include "dialects/pai/component_section.hpp"
#include "fields/sections.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/config/section.hpp"

namespace hpsearch::jobs {

/// Whether a component file is spelled as PAI's algorithms are: an AlgorithmSpec, alone or as CreateAlgorithm
/// takes it.
[[nodiscard]] bool is_algorithm_spec(const Value& tree) noexcept;

/// An AlgorithmSpec in the words of a component file.
struct AlgorithmTree {
  Value tree;
  std::map<std::string, std::string> places;  ///< Where things of the tree stand in the AlgorithmSpec.

  /// The place of what a component's reader calls `path`, both below `at`.
  [[nodiscard]] std::string place_of(std::string_view at, const std::string& path) const;
};

/// The component's own reader then checks what it says. What PAI runs its jobs by and has no meaning here
/// (instance types, progress) becomes notes. What is not known is refused in a submission.
[[nodiscard]] AlgorithmTree from_algorithm_spec(const Value& tree, std::string_view at, Findings& findings);

}  // namespace hpsearch::jobs

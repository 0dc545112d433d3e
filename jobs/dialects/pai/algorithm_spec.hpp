#pragma once

#include <map>
#include <string>
#include <string_view>

#include "dialects/pai/component_section.hpp"
#include "fields/sections.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/config/section.hpp"

namespace hpsearch::jobs {

/// Whether a component file is written as a PAI algorithm: an AlgorithmSpec, or the arguments of
/// CreateAlgorithm around one.
[[nodiscard]] bool is_algorithm_spec(const Value& tree) noexcept;

/// An AlgorithmSpec translated into the fields of a component file.
struct AlgorithmTree {
  Value tree;
  std::map<std::string, std::string> places;  ///< Path in the tree → path in the AlgorithmSpec.

  /// The place in the AlgorithmSpec of a component's `path`; both are below `at`.
  [[nodiscard]] std::string place_of(std::string_view at, const std::string& path) const;
};

/// The component's reader checks the values. Members that PAI needs for its own jobs and that have no meaning
/// here (instance types, progress) become notes. A submission may not have unknown members.
[[nodiscard]] AlgorithmTree from_algorithm_spec(const Value& tree, std::string_view at, Findings& findings);

}  // namespace hpsearch::jobs

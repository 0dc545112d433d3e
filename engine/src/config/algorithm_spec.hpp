#pragma once

#include <string_view>

#include "config/reader.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::engine {

/// Whether a component file is spelled as PAI's algorithms are: an AlgorithmSpec, alone or as CreateAlgorithm
/// takes it.
[[nodiscard]] bool is_algorithm_spec(const Value& tree) noexcept;

/// The same in the words of a component file; its own reader then checks what it says. What PAI runs its jobs by
/// and has no meaning here (image, instance types, progress) becomes notes.
[[nodiscard]] Value from_algorithm_spec(const Value& tree, std::string_view at, Findings& findings);

}  // namespace hpsearch::engine

#pragma once

#include <span>

#include "core/adapters/adapter.hpp"

namespace hpsearch::workers {

/// All adapters, in the order in which they add to a launch: later ones win.
[[nodiscard]] std::span<const Adapter* const> adapters() noexcept;

}  // namespace hpsearch::workers

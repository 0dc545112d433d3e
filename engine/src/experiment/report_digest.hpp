#pragma once

#include <cstdint>

#include "hpsearch/engine/experiment/attempt.hpp"

namespace hpsearch::engine {

/// Tells one report from another with the same number: a hash of every field, doubles by their bits. No guard
/// against intent, only against workers that number wrongly. It is stored nowhere.
[[nodiscard]] std::uint64_t digest_of(const Report& report);

}  // namespace hpsearch::engine

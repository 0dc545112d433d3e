#pragma once

#include <cstdint>

#include "hpsearch/engine/experiment/attempt.hpp"

namespace hpsearch::engine {

/// Tells one report from another with the same number: a hash of every field, doubles by their bits. No guard
/// against intent, only against workers that number wrongly. Not in the log, but in snapshots: another hash
/// is another format of theirs.
[[nodiscard]] std::uint64_t digest_of(const Report& report) noexcept;

}  // namespace hpsearch::engine

#pragma once

#include <cstddef>
#include <span>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/wire.hpp"

namespace hpsearch::proto {

/// What the msgpack of one value may cost us before we trust it.
struct ValueLimits {
  std::size_t bytes = 1024UL * 1024 * 1024;
  std::size_t depth = 64;
};

/// A value in msgpack, for snapshots: decode_value() gives an equal one back, reals bit for bit. In texts, a
/// byte that is no part of a UTF-8 character becomes U+FFFD.
[[nodiscard]] Bytes encode_value(const engine::Value& value);

/// corrupt: not such bytes, or past a limit.
[[nodiscard]] engine::Result<engine::Value> decode_value(std::span<const std::byte> bytes,
                                                         const ValueLimits& limits = {});

}  // namespace hpsearch::proto

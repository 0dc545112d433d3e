#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "hpsearch/io/zmq/curve.hpp"

namespace hpsearch::net {

/// A key as libzmq takes it.
using KeyBytes = std::array<std::uint8_t, 32>;

/// The bytes of a text that is_curve_key().
[[nodiscard]] KeyBytes bytes_of_key(const std::string& key);
[[nodiscard]] std::string key_of_bytes(std::span<const std::uint8_t, 32> bytes);

}  // namespace hpsearch::net

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace hpsearch::files {

/// Fills with the kernel's random bytes, which are fit for secrets. If the kernel has none, the process ends,
/// because a guessable secret would be worse. Any thread may call it.
void fill_randomly(std::span<std::byte> bytes);

/// This many random bytes, in hexadecimal.
[[nodiscard]] std::string random_hex(std::size_t bytes);

[[nodiscard]] std::uint64_t random_number();

}  // namespace hpsearch::files

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace hpsearch::files {

/// Random bytes of the kernel, fit for secrets. A kernel that has none ends the process: a guessable secret
/// would be worse. May be called on any thread.
void fill_randomly(std::span<std::byte> bytes);

/// So many random bytes, in hexadecimal.
[[nodiscard]] std::string random_hex(std::size_t bytes);

[[nodiscard]] std::uint64_t random_number();

}  // namespace hpsearch::files

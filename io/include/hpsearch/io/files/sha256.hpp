#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hpsearch::files {

/// SHA-256 (FIPS 180-4) of bytes that come in pieces. Identifies content; isn't for secrets.
class Sha256 {
 public:
  Sha256() noexcept;
  void update(std::string_view bytes) noexcept;

  /// The digest of all bytes so far, 64 digits of lower case hexadecimal. Must be the last call.
  [[nodiscard]] std::string hex();

 private:
  alignas(std::uint64_t) std::array<std::byte, 104> state_;  // libsodium's; its header is only in our source.
};

[[nodiscard]] std::string sha256_of(std::string_view bytes);

/// Whether `text` has the form of Sha256::hex().
[[nodiscard]] bool is_sha256(std::string_view text) noexcept;

}  // namespace hpsearch::files

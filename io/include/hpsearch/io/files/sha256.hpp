#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hpsearch::files {

/// SHA-256 (FIPS 180-4) of bytes that come piece by piece. Names content; keeps no secret.
class Sha256 {
 public:
  Sha256() noexcept;
  void update(std::string_view bytes) noexcept;

  /// The digest of everything so far, 64 digits of lower case hexadecimal. The last call.
  [[nodiscard]] std::string hex();

 private:
  alignas(std::uint64_t) std::array<std::byte, 104> state_;  // libsodium's, whose header stays in our source.
};

[[nodiscard]] std::string sha256_of(std::string_view bytes);

/// Whether `text` is spelled as Sha256::hex() spells digests.
[[nodiscard]] bool is_sha256(std::string_view text) noexcept;

}  // namespace hpsearch::files

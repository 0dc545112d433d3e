#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hpsearch::context {

/// SHA-256 (FIPS 180-4) of bytes that come piece by piece. Names content; keeps no secret.
class Sha256 {
 public:
  void update(std::string_view bytes) noexcept;

  /// The digest of everything so far, 64 digits of lower case hexadecimal. The last call.
  [[nodiscard]] std::string hex();

 private:
  void compress(const unsigned char* block) noexcept;

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_{};
  std::uint64_t bytes_ = 0;
};

[[nodiscard]] std::string sha256_of(std::string_view bytes);

/// Whether `text` is spelled as Sha256::hex() spells digests.
[[nodiscard]] bool is_sha256(std::string_view text) noexcept;

}  // namespace hpsearch::context

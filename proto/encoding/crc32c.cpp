#include "encoding/crc32c.hpp"

#include <array>
#include <cstring>

#include "hpsearch/proto/events/stored.hpp"

namespace hpsearch::proto {
namespace {

using Table = std::array<std::array<std::uint32_t, 256>, 8>;

// Eight tables let the loop process eight bytes at a time ("slicing by 8"): about 2 GB/s, without special
// instructions.
constexpr Table make_table() {
  constexpr std::uint32_t castagnoli = 0x82F63B78;  // Reflected polynomial.
  Table table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? castagnoli : 0);
    }
    table[0][byte] = crc;
  }
  for (std::size_t slice = 1; slice < 8; ++slice) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = table[slice - 1][byte];
      table[slice][byte] = (before >> 8) ^ table[0][before & 0xFF];
    }
  }
  return table;
}

constexpr Table table = make_table();

std::uint32_t little_endian(const std::byte* bytes) noexcept {
  return std::to_integer<std::uint32_t>(bytes[0]) | std::to_integer<std::uint32_t>(bytes[1]) << 8 |
         std::to_integer<std::uint32_t>(bytes[2]) << 16 | std::to_integer<std::uint32_t>(bytes[3]) << 24;
}

#if defined(__x86_64__)
/// Uses the processor's instruction, three cycles for eight bytes. It needs SSE4.2, which not every x86-64
/// has.
[[gnu::target("sse4.2")]] std::uint32_t crc32c_by_instruction(std::uint32_t seed,
                                                              std::span<const std::byte> bytes) noexcept {
  std::uint64_t wide = ~seed;
  while (bytes.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    wide = __builtin_ia32_crc32di(wide, word);
    bytes = bytes.subspan(8);
  }
  auto crc = static_cast<std::uint32_t>(wide);
  for (const std::byte byte : bytes) {
    crc = __builtin_ia32_crc32qi(crc, std::to_integer<std::uint8_t>(byte));
  }
  return ~crc;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(std::uint32_t seed, std::span<const std::byte> bytes) noexcept {
  std::uint32_t crc = ~seed;
  while (bytes.size() >= 8) {
    const std::uint32_t low = crc ^ little_endian(bytes.data());
    const std::uint32_t high = little_endian(bytes.data() + 4);
    crc = table[7][low & 0xFF] ^ table[6][low >> 8 & 0xFF] ^ table[5][low >> 16 & 0xFF] ^
          table[4][low >> 24] ^ table[3][high & 0xFF] ^ table[2][high >> 8 & 0xFF] ^
          table[1][high >> 16 & 0xFF] ^ table[0][high >> 24];
    bytes = bytes.subspan(8);
  }
  for (const std::byte byte : bytes) {
    crc = (crc >> 8) ^ table[0][(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xFF];
  }
  return ~crc;
}

std::uint32_t crc32c(std::uint32_t seed, std::span<const std::byte> bytes) noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2") != 0) {
    return crc32c_by_instruction(seed, bytes);
  }
#endif
  return crc32c_by_table(seed, bytes);
}

}  // namespace hpsearch::proto

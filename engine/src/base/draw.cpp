#include "hpsearch/engine/base/draw.hpp"

namespace hpsearch::engine {

namespace {

__extension__ typedef unsigned __int128 Wide;

constexpr std::uint32_t low(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(word);
}
constexpr std::uint32_t high(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(word >> 32U);
}

// FNV-1a over the seed's bytes and the name, then the finaliser of SplitMix64: FNV alone leaves the keys of
// neighbouring seeds alike in most bits.
std::uint64_t key_of(std::uint64_t seed, std::string_view name) noexcept {
  constexpr std::uint64_t prime = 0x100000001b3U;
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (unsigned byte = 0; byte < 8; ++byte) {
    hash = (hash ^ ((seed >> (8U * byte)) & 0xffU)) * prime;
  }
  for (const char letter : name) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * prime;
  }
  hash = (hash ^ (hash >> 30U)) * 0xbf58476d1ce4e5b9U;
  hash = (hash ^ (hash >> 27U)) * 0x94d049bb133111ebU;
  return hash ^ (hash >> 31U);
}

}  // namespace

PhiloxBlock philox4x32_10(PhiloxBlock counter, std::uint32_t key0, std::uint32_t key1) noexcept {
  // Multipliers and key increments are those of the paper, table 2 and section 4.3. Named words, because
  // compilers keep those in registers and an array in memory.
  auto [c0, c1, c2, c3] = counter.word;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53U} * c0;
    const std::uint64_t second = std::uint64_t{0xCD9E8D57U} * c2;
    c0 = high(second) ^ c1 ^ key0;
    c1 = low(second);
    c2 = high(first) ^ c3 ^ key1;
    c3 = low(first);
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return {{c0, c1, c2, c3}};
}

Draw::Draw(std::uint64_t seed, TrialNumber trial, std::string_view name) noexcept
    : key_(key_of(seed, name)), trial_(trial.number()) {
}

std::uint64_t Draw::bits() noexcept {
  const PhiloxBlock counter{{low(next_), high(next_), low(trial_), high(trial_)}};
  ++next_;
  const PhiloxBlock block = philox4x32_10(counter, low(key_), high(key_));
  return std::uint64_t{block.word[0]} | (std::uint64_t{block.word[1]} << 32U);
}

double Draw::unit() noexcept {
  return static_cast<double>(bits() >> 11U) * 0x1.0p-53;
}

std::uint64_t Draw::below(std::uint64_t bound) noexcept {
  if (bound == 0) {
    return bits();
  }
  // The high half of bits × bound is uniform once the few low halves that would be counted once too often
  // (2^64 mod bound of them) are drawn again.
  Wide product = Wide{bits()} * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t unfair = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < unfair) {
      product = Wide{bits()} * bound;
    }
  }
  return static_cast<std::uint64_t>(product >> 64U);
}

}  // namespace hpsearch::engine

#include "hpsearch/io/files/sha256.hpp"

#include <sodium.h>

#include <span>

#include "hpsearch/engine/base/digits.hpp"

namespace hpsearch::files {
namespace {

crypto_hash_sha256_state* state_in(std::array<std::byte, 104>& bytes) noexcept {
  static_assert(sizeof(crypto_hash_sha256_state) == 104 &&
                alignof(crypto_hash_sha256_state) <= alignof(std::uint64_t));
  return reinterpret_cast<crypto_hash_sha256_state*>(bytes.data());
}

const unsigned char* bytes_of(std::string_view bytes) noexcept {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

std::string hex_of(const std::array<unsigned char, crypto_hash_sha256_BYTES>& digest) {
  return engine::hex_of(std::as_bytes(std::span(digest)));
}

}  // namespace

Sha256::Sha256() noexcept {
  crypto_hash_sha256_init(state_in(state_));
}

void Sha256::update(std::string_view bytes) noexcept {
  crypto_hash_sha256_update(state_in(state_), bytes_of(bytes), bytes.size());
}

std::string Sha256::hex() {
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest{};
  crypto_hash_sha256_final(state_in(state_), digest.data());
  return hex_of(digest);
}

std::string sha256_of(std::string_view bytes) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest{};
  crypto_hash_sha256(digest.data(), bytes_of(bytes), bytes.size());
  return hex_of(digest);
}

bool is_sha256(std::string_view text) noexcept {
  return engine::is_hex(text, 2 * crypto_hash_sha256_BYTES);
}

}  // namespace hpsearch::files

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::daemon {

/// Seals the secrets of configurations before they become events, and opens them for the lease of a trial.
/// The store, answers and copies have sealed secrets only. Opening one needs the file secrets.key of the
/// daemon's state directory.
///
/// A sealed secret is "sealed:" and base64 of a nonce and the ciphertext of XChaCha20-Poly1305 (libsodium),
/// which also covers the secret's path: it can be opened only in its own field. The nonce is a keyed hash of
/// path and secret: the same configuration must be sealed the same way when a submission is repeated.
///
/// Threads: any.
class SealedSecrets {
 public:
  static constexpr std::size_t key_bytes = 32;

  enum class Missing : std::uint8_t { made, refused };

  /// Reads DIRECTORY/secrets.key, and makes it (mode 0600) if it is missing. corrupt: it is not a key, or
  /// others may read it; unavailable: it cannot be read or made.
  [[nodiscard]] static engine::Result<SealedSecrets> in(const std::string& state_directory,
                                                        Missing missing = Missing::made);
  explicit SealedSecrets(const std::array<unsigned char, key_bytes>& key);

  /// Whether a configuration holds sealed secrets.
  [[nodiscard]] static bool are_in(const engine::Value& config);

  [[nodiscard]] engine::Value seal(const engine::Value& config) const;
  /// bad_request: a secret was sealed with another key, or is damaged; the message names the first such path.
  [[nodiscard]] engine::Result<engine::Value> open(const engine::Value& config) const;

 private:
  std::array<unsigned char, key_bytes> cipher_key_{};
  std::array<unsigned char, key_bytes> nonce_key_{};
};

/// Secrets that a user has copied from an answer, hidden or sealed. Programs would start with these texts in
/// the place of the secrets.
[[nodiscard]] engine::Problems secrets_copied_from_answers(const engine::Value& config);

}  // namespace hpsearch::daemon

#pragma once

#include <map>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// The secret that seals the keys of a backup: a passphrase, or the content of a key file.
struct BackupKey {
  std::string secret;

  /// Reads a key file of at least 16 bytes; a line break at the end of text doesn't count. not_found,
  /// unavailable: it cannot be read; bad_request: it is shorter.
  [[nodiscard]] static engine::Result<BackupKey> in_file(const std::string& path);
};

/// Contents of small files by their names.
using KeyFiles = std::map<std::string, std::string>;

/// Packs the files into one text that only the key opens: Argon2id makes a key of the secret, and
/// XChaCha20-Poly1305 (libsodium) seals with it. Cost: 64 MiB of memory and tenths of a second.
[[nodiscard]] engine::Result<std::string> seal_keys(const KeyFiles& files, const BackupKey& key);

/// bad_request: it was sealed with another key, or a byte of it was changed; corrupt: it is not a sealed
/// text.
[[nodiscard]] engine::Result<KeyFiles> open_keys(std::string_view sealed, const BackupKey& key);

}  // namespace hpsearch::daemon

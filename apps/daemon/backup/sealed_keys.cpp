#include "daemon/backup/sealed_keys.hpp"

#include <sodium.h>

#include <array>
#include <cstddef>
#include <vector>

#include "daemon/store/files/file_system.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Value;

// Format: the mark, the salt, the nonce, the ciphertext with its tag.
constexpr std::string_view mark = "hpsearch sealed keys 1\n";
constexpr std::size_t salt_bytes = crypto_pwhash_argon2id_SALTBYTES;
constexpr std::size_t nonce_bytes = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t tag_bytes = crypto_aead_xchacha20poly1305_ietf_ABYTES;
constexpr std::size_t head_bytes = mark.size() + salt_bytes + nonce_bytes;
constexpr std::size_t shortest_key_file = 16;
constexpr unsigned long long passes = 3;
constexpr std::size_t memory_bytes = std::size_t{64} << 20U;

using CipherKey = std::array<unsigned char, crypto_aead_xchacha20poly1305_ietf_KEYBYTES>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* bytes_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

Result<CipherKey> cipher_key(const BackupKey& key, std::string_view salt) {
  HPSEARCH_CHECK(sodium_init() >= 0, "libsodium needs nothing that is not there");
  CipherKey made{};
  if (crypto_pwhash(made.data(), made.size(), key.secret.data(), key.secret.size(), bytes_of(salt), passes,
                    memory_bytes, crypto_pwhash_ALG_ARGON2ID13) != 0) {
    return Error{Errc::unavailable, "there are no 64 MiB of memory to make a key of the passphrase"};
  }
  return made;
}

std::string hex(std::string_view bytes) {
  std::string text((bytes.size() * 2) + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), bytes_of(bytes), bytes.size());
  text.pop_back();
  return text;
}

}  // namespace

Result<BackupKey> BackupKey::in_file(const std::string& path) {
  const auto bytes = kernel_files().read(path);
  if (!bytes) {
    return bytes.error();
  }
  std::string secret(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) {
    secret.pop_back();
  }
  if (secret.size() < shortest_key_file) {
    return Error{Errc::bad_request, path + " has " + std::to_string(secret.size()) +
                                        " bytes; a key file needs at least 16. Make one with: head -c 32 "
                                        "/dev/urandom | base64 > " +
                                        path};
  }
  return BackupKey{std::move(secret)};
}

Result<std::string> seal_keys(const KeyFiles& files, const BackupKey& key) {
  HPSEARCH_CHECK(sodium_init() >= 0, "libsodium needs nothing that is not there");
  Value::Map named;
  for (const auto& [name, content] : files) {
    named[name] = hex(content);
  }
  const std::string plain = engine::compact_json(Value(std::move(named)));
  std::string sealed(head_bytes + plain.size() + tag_bytes, '\0');
  sealed.replace(0, mark.size(), mark);
  randombytes_buf(bytes_of(sealed) + mark.size(), salt_bytes + nonce_bytes);
  const auto cipher = cipher_key(key, std::string_view(sealed).substr(mark.size(), salt_bytes));
  if (!cipher) {
    return cipher.error();
  }
  crypto_aead_xchacha20poly1305_ietf_encrypt(
      bytes_of(sealed) + head_bytes, nullptr, bytes_of(std::string_view(plain)), plain.size(), bytes_of(mark),
      mark.size(), nullptr, bytes_of(sealed) + mark.size() + salt_bytes, cipher->data());
  return sealed;
}

Result<KeyFiles> open_keys(std::string_view sealed, const BackupKey& key) {
  if (!sealed.starts_with(mark) || sealed.size() < head_bytes + tag_bytes) {
    return Error{Errc::corrupt, "this is no file of sealed keys, or its end is missing"};
  }
  const auto cipher = cipher_key(key, sealed.substr(mark.size(), salt_bytes));
  if (!cipher) {
    return cipher.error();
  }
  std::string plain(sealed.size() - head_bytes - tag_bytes, '\0');
  if (crypto_aead_xchacha20poly1305_ietf_decrypt(
          bytes_of(plain), nullptr, nullptr, bytes_of(sealed) + head_bytes, sealed.size() - head_bytes,
          bytes_of(mark), mark.size(), bytes_of(sealed) + mark.size() + salt_bytes, cipher->data()) != 0) {
    return Error{Errc::bad_request,
                 "the keys were sealed with another passphrase or key file, or are damaged"};
  }
  const auto named = proto::parse_json(plain, {.bytes = plain.size()});
  const Value::Map* map = named ? named->as_map() : nullptr;
  if (map == nullptr) {
    return Error{Errc::corrupt, "the sealed keys are no list of files"};
  }
  KeyFiles files;
  for (const auto& [name, value] : *map) {
    const std::string* digits = value.as_text();
    std::string content(digits == nullptr ? 0 : digits->size() / 2, '\0');
    std::size_t size = 0;
    if (digits == nullptr || sodium_hex2bin(bytes_of(content), content.size(), digits->data(), digits->size(),
                                            nullptr, &size, nullptr) != 0) {
      return Error{Errc::corrupt, "the sealed file " + name + " is no text of digits"};
    }
    content.resize(size);
    files.emplace(name, std::move(content));
  }
  return files;
}

}  // namespace hpsearch::daemon

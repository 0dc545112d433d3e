#include "daemon/access/sealed_secrets.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "daemon/store/files/file_sync.hpp"
#include "daemon/store/files/file_system.hpp"
#include "daemon/submission/file_without_secrets.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/jobs/fields/secrets.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Value;

constexpr std::string_view mark = "sealed:";
constexpr std::size_t nonce_bytes = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t tag_bytes = crypto_aead_xchacha20poly1305_ietf_ABYTES;
constexpr int base64 = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
constexpr const char* key_file = "/secrets.key";

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string in_base64(std::span<const unsigned char> bytes) {
  std::string text(sodium_base64_encoded_len(bytes.size(), base64), '\0');
  sodium_bin2base64(text.data(), text.size(), bytes.data(), bytes.size(), base64);
  text.pop_back();  // Removes the zero byte at the end.
  return text;
}

std::optional<std::vector<unsigned char>> from_base64(std::string_view text) {
  std::vector<unsigned char> bytes(text.size());
  std::size_t size = 0;
  const char* end = nullptr;
  if (sodium_base642bin(bytes.data(), bytes.size(), text.data(), text.size(), nullptr, &size, &end, base64) !=
          0 ||
      end != text.data() + text.size()) {
    return std::nullopt;
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace

SealedSecrets::SealedSecrets(const std::array<unsigned char, key_bytes>& key) {
  HPSEARCH_CHECK(sodium_init() >= 0, "libsodium needs nothing that is not there");
  static_assert(key_bytes == crypto_kdf_KEYBYTES && key_bytes == crypto_aead_xchacha20poly1305_ietf_KEYBYTES);
  crypto_kdf_derive_from_key(cipher_key_.data(), cipher_key_.size(), 1, "hpsecret", key.data());
  crypto_kdf_derive_from_key(nonce_key_.data(), nonce_key_.size(), 2, "hpsecret", key.data());
}

Result<SealedSecrets> SealedSecrets::in(const std::string& state_directory, Missing missing) {
  const std::string path = state_directory + key_file;
  auto bytes = kernel_files().read(path);
  if (!bytes && bytes.error().code == Errc::not_found && missing == Missing::refused) {
    return Error{Errc::unavailable, path + " is missing, and stored experiments have secrets that it opens"};
  }
  if (!bytes && bytes.error().code == Errc::not_found) {
    HPSEARCH_CHECK(sodium_init() >= 0, "libsodium needs nothing that is not there");
    std::array<std::byte, key_bytes> fresh{};
    randombytes_buf(fresh.data(), fresh.size());
    const std::array parts{std::span<const std::byte>(fresh)};
    if (auto written = write_file_durably(kernel_files(), path, parts); !written) {
      return written.error();
    }
    bytes = kernel_files().read(path);
  }
  if (!bytes) {
    return bytes.error();
  }
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0 || (found.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Error{Errc::corrupt, path + " may be used by others than its owner; chmod 600 " + path};
  }
  std::array<unsigned char, key_bytes> key{};
  if (bytes->size() != key.size()) {
    return Error{Errc::corrupt,
                 path + " has " + std::to_string(bytes->size()) + " bytes; a key has 32. Bring the file " +
                     "back from a copy; without it the secrets of stored experiments cannot be read"};
  }
  std::transform(bytes->begin(), bytes->end(), key.begin(),
                 [](std::byte byte) { return std::to_integer<unsigned char>(byte); });
  return SealedSecrets(key);
}

bool SealedSecrets::are_in(const Value& config) {
  bool found = false;
  static_cast<void>(jobs::with_secrets(config, [&found](const std::string&, const std::string& text) {
    found = found || text.starts_with(mark);
    return Value(text);
  }));
  return found;
}

Value SealedSecrets::seal(const Value& config) const {
  return jobs::with_secrets(config, [this](const std::string& path, const std::string& secret) {
    std::vector<unsigned char> sealed(nonce_bytes + secret.size() + tag_bytes);
    crypto_generichash_state hash;
    crypto_generichash_init(&hash, nonce_key_.data(), nonce_key_.size(), nonce_bytes);
    crypto_generichash_update(&hash, bytes_of(path),
                              path.size() + 1);  // Includes the zero byte between the two.
    crypto_generichash_update(&hash, bytes_of(secret), secret.size());
    crypto_generichash_final(&hash, sealed.data(), nonce_bytes);
    crypto_aead_xchacha20poly1305_ietf_encrypt(sealed.data() + nonce_bytes, nullptr, bytes_of(secret),
                                               secret.size(), bytes_of(path), path.size(), nullptr,
                                               sealed.data(), cipher_key_.data());
    return Value(std::string(mark) + in_base64(sealed));
  });
}

Result<Value> SealedSecrets::open(const Value& config) const {
  std::string wrong;
  Value opened = jobs::with_secrets(config, [this, &wrong](const std::string& path, const std::string& text) {
    const auto sealed =
        text.starts_with(mark) ? from_base64(std::string_view(text).substr(mark.size())) : std::nullopt;
    if (sealed && sealed->size() >= nonce_bytes + tag_bytes) {
      std::string secret(sealed->size() - nonce_bytes - tag_bytes, '\0');
      if (crypto_aead_xchacha20poly1305_ietf_decrypt(reinterpret_cast<unsigned char*>(secret.data()), nullptr,
                                                     nullptr, sealed->data() + nonce_bytes,
                                                     sealed->size() - nonce_bytes, bytes_of(path),
                                                     path.size(), sealed->data(), cipher_key_.data()) == 0) {
        return Value(std::move(secret));
      }
    }
    wrong = wrong.empty() ? path : wrong;
    return Value(text);
  });
  if (!wrong.empty()) {
    return Error{Errc::bad_request,
                 wrong + " cannot be opened: it was sealed with another secrets.key than the one in the " +
                     "daemon's state directory. Bring that file back, or submit the experiment again"};
  }
  return opened;
}

engine::Problems secrets_copied_from_answers(const Value& config) {
  engine::Problems problems;
  static_cast<void>(jobs::with_secrets(config, [&problems](const std::string& path, const std::string& text) {
    const bool hidden = text == jobs::hidden_secret || text == hidden_in_text;
    if (hidden || text.starts_with(mark)) {
      problems.push_back({path, std::string("is a ") + (hidden ? "hidden" : "sealed") + " secret",
                          "the secret itself: no answer holds it"});
    }
    return Value(text);
  }));
  return problems;
}

}  // namespace hpsearch::daemon

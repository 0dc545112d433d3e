#include "hpsearch/io/zmq/curve.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/io/files/descriptor.hpp"
#include "hpsearch/io/files/file_bytes.hpp"
#include "zmq/curve_bytes.hpp"

namespace hpsearch::net {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

constexpr std::size_t key_chars = 64;
constexpr const char* without_curve = "libzmq was built without CURVE";
/// As libzmq spells a key, in Z85.
using Spelled = std::array<char, 41>;

KeyBytes bytes_of(const Spelled& spelled) {
  KeyBytes bytes{};
  ::zmq_z85_decode(bytes.data(), spelled.data());
  return bytes;
}

Error system_error(const std::string& doing, const std::string& path) {
  return {Errc::unavailable, "cannot " + doing + " " + path + ": " + std::strerror(errno)};
}

Result<std::string> read_secret(int file, const std::string& path) {
  struct stat found {};
  if (::fstat(file, &found) != 0) {
    return system_error("read", path);
  }
  if ((found.st_mode & 077U) != 0 || found.st_uid != ::geteuid()) {
    return Error{
        Errc::wrong_state,
        path +
            " is a secret key that others may read or that belongs to somebody else; give it to this "
            "program's user and say chmod 600, or make a new one by removing it"};
  }
  std::array<char, 2 * key_chars> text{};
  const ssize_t got = ::read(file, text.data(), text.size());
  if (got < 0) {
    return system_error("read", path);
  }
  std::string secret(text.data(), static_cast<std::size_t>(got));
  secret.erase(std::min(secret.find_last_not_of(" \n\r\t") + 1, secret.size()));
  if (!is_curve_key(secret)) {
    return Error{Errc::corrupt,
                 path + " holds no key (64 digits of hexadecimal); remove it to make a new one"};
  }
  return secret;
}

/// Makes the key file, whole or not at all under its name, and durable. When another process makes one at the
/// same time, exactly one of the two stays: neither a link nor this way of renaming replaces what is there.
/// Some file systems have no hard links, some not that way of renaming.
Status write_secret(const std::string& directory, const std::string& path, const std::string& secret) {
  std::string draft = path + ".XXXXXX";
  const files::Descriptor file(::mkostemp(draft.data(), O_CLOEXEC));  // Readable by this user alone.
  if (file.get() < 0) {
    return system_error("make", path);
  }
  const std::string text = secret + "\n";
  const bool linked = files::write_all(file.get(), text) && ::fsync(file.get()) == 0 &&
                      (::link(draft.c_str(), path.c_str()) == 0 || errno == EEXIST ||
                       ::renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0 ||
                       errno == EEXIST);
  const int error = errno;
  ::unlink(draft.c_str());
  errno = error;
  if (!linked) {
    return system_error("make", path);
  }
  const files::Descriptor names(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (names.get() < 0 || ::fsync(names.get()) != 0) {
    return system_error("make", path);
  }
  return engine::Done{};
}

/// The keys in `path`; nothing when there is no such file.
Result<std::optional<CurveKeys>> read_keys(const std::string& path) {
  const files::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.get() < 0) {
    if (errno == ENOENT) {
      return std::optional<CurveKeys>();
    }
    return system_error("read", path);
  }
  auto secret = read_secret(file.get(), path);
  if (!secret) {
    return secret.error();
  }
  auto keys = curve_keys_of_secret(*secret);
  return keys ? Result<std::optional<CurveKeys>>(*std::move(keys)) : keys.error();
}

}  // namespace

bool is_curve_key(std::string_view text) noexcept {
  return engine::is_hex(text, key_chars);
}

KeyBytes bytes_of_key(const std::string& key) {
  KeyBytes bytes{};
  const std::string found = engine::bytes_of_hex(key).value_or("");
  std::copy_n(found.begin(), std::min(found.size(), bytes.size()), bytes.begin());
  return bytes;
}

std::string key_of_bytes(std::span<const std::uint8_t, 32> bytes) {
  return engine::hex_of(std::as_bytes(bytes));
}

Result<CurveKeys> new_curve_keys() {
  Spelled made_public{};
  Spelled made_secret{};
  if (::zmq_curve_keypair(made_public.data(), made_secret.data()) != 0) {
    return Error{Errc::unavailable, without_curve};
  }
  return CurveKeys{key_of_bytes(bytes_of(made_public)), key_of_bytes(bytes_of(made_secret))};
}

Result<CurveKeys> curve_keys_of_secret(const std::string& secret_key) {
  Spelled secret{};
  Spelled derived{};
  const KeyBytes bytes = bytes_of_key(secret_key);
  ::zmq_z85_encode(secret.data(), bytes.data(), bytes.size());
  if (::zmq_curve_public(derived.data(), secret.data()) != 0) {
    return Error{Errc::unavailable, without_curve};
  }
  return CurveKeys{key_of_bytes(bytes_of(derived)), secret_key};
}

Result<CurveKeys> curve_keys_in(const std::string& directory) {
  const std::string path = directory + "/curve.key";
  auto found = read_keys(path);
  if (!found) {
    return found.error();
  }
  if (found->has_value()) {
    return **std::move(found);
  }
  const Result<CurveKeys> made = new_curve_keys();
  if (!made) {
    return made.error();
  }
  if (auto written = write_secret(directory, path, made->secret_key); !written) {
    return written.error();
  }
  // The existing file counts: it may be the key of a process that was faster.
  auto kept = read_keys(path);
  if (!kept) {
    return kept.error();
  }
  if (!kept->has_value()) {
    return Error{Errc::unavailable, path + " was removed while it was made"};
  }
  return **std::move(kept);
}

}  // namespace hpsearch::net

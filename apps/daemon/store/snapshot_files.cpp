#include "daemon/store/snapshot_files.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <span>
#include <string_view>

#include "hpsearch/proto/stored.hpp"
#include "hpsearch/proto/value.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Lsn;
using engine::Result;
using engine::Status;

constexpr std::string_view suffix = ".snapshot";
// Sorted by name is sorted by age: room for every lsn.
constexpr std::size_t digits = 20;

// "hpsesnap" but for its last byte, which is the format's version.
constexpr std::uint64_t magic = 0x68707365'736e6100;
constexpr std::uint64_t version = 1;

constexpr std::size_t header_bytes = 7 * 8;
using Header = std::array<std::uint64_t, 7>;

std::array<std::byte, header_bytes> spelled(const Header& header) {
  std::array<std::byte, header_bytes> bytes{};
  std::size_t next = 0;
  for (const std::uint64_t number : header) {
    for (unsigned shift = 0; shift < 64; shift += 8) {
      bytes[next++] = static_cast<std::byte>(number >> shift & 0xFFU);
    }
  }
  return bytes;
}

Header header_in(std::span<const std::byte, header_bytes> bytes) {
  Header header{};
  for (std::size_t i = 0; i < header_bytes; ++i) {
    header[i / 8] |= std::to_integer<std::uint64_t>(bytes[i]) << (i % 8 * 8);
  }
  return header;
}

/// Over everything but itself.
std::uint32_t checksum(const Header& header, std::span<const std::byte> body) {
  const auto bytes = spelled(header);
  return proto::crc32c(proto::crc32c(0, std::span(bytes).first(header_bytes - 8)), body);
}

std::uint64_t hash_of(std::span<const std::byte> bytes) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte byte : bytes) {
    hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace

std::uint64_t state_hash(const engine::Value& state) {
  return hash_of(proto::encode_value(state));
}

std::string SnapshotFiles::path_of(Lsn lsn) const {
  std::string number = std::to_string(lsn.number());
  return directory_ + "/" + std::string(digits - number.size(), '0') + number + std::string(suffix);
}

std::vector<Lsn> SnapshotFiles::list() const {
  std::vector<Lsn> found;
  for (const std::string& name : files_->names_in(directory_)) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc{} && std::string_view(end) == suffix) {
      found.emplace_back(number);
    }
  }
  std::sort(found.begin(), found.end(), std::greater<>());
  return found;
}

Status SnapshotFiles::keep(const Snapshot& snapshot) const {
  const auto made = files_->make_directory(directory_);
  if (!made) {
    return made.error();
  }
  if (*made) {
    if (auto synced = files_->sync_directory(directory_.substr(0, directory_.rfind('/') + 1)); !synced) {
      return synced;
    }
  }
  const proto::Bytes body = proto::encode_value(snapshot.state);
  Header header{magic | version,
                snapshot.cluster,
                snapshot.lsn.number(),
                snapshot.chain,
                hash_of(body),
                body.size(),
                0};
  header.back() = checksum(header, body);
  const auto head = spelled(header);
  const std::array<std::span<const std::byte>, 2> parts{std::span<const std::byte>(head), body};
  if (auto written = write_file_durably(*files_, path_of(snapshot.lsn), parts); !written) {
    return written;
  }
  // What claims to be newer is of another history: this one was just made at the end of the log.
  std::size_t good = 0;
  for (const Lsn lsn : list()) {
    if (lsn > snapshot.lsn || ++good > kept) {
      files_->remove(path_of(lsn));
    }
  }
  return Done{};
}

Result<SnapshotFiles::Read> SnapshotFiles::read(Lsn lsn) const {
  const std::string path = path_of(lsn);
  const auto bytes = files_->read(path);
  if (!bytes) {
    return bytes.error();
  }
  const auto damaged = [&path](const std::string& how) {
    return Error{Errc::corrupt, "the snapshot " + path + " is damaged: " + how};
  };
  if (bytes->size() < header_bytes) {
    return damaged("it has " + std::to_string(bytes->size()) + " bytes, fewer than its header");
  }
  const Header header = header_in(std::span(*bytes).first<header_bytes>());
  const auto body = std::span(*bytes).subspan(header_bytes);
  const auto [kind, cluster, number, chain, hash, size, crc] = header;
  if ((kind & ~std::uint64_t{0xFF}) != magic) {
    return damaged("it does not begin like one");
  }
  if ((kind & 0xFF) != version) {
    return Error{Errc::version_mismatch, "the snapshot " + path + " has format " +
                                             std::to_string(kind & 0xFF) + ", this build reads " +
                                             std::to_string(version)};
  }
  if (size != body.size()) {
    return damaged("it has " + std::to_string(body.size()) + " bytes of state instead of " +
                   std::to_string(size));
  }
  if (crc != checksum(header, body) || hash != hash_of(body)) {
    return damaged("it does not match its checksum");
  }
  if (number != lsn.number() || chain > 0xFFFFFFFF) {
    return damaged("it is of another event than its name says");
  }
  auto state = proto::decode_value(body);
  if (!state) {
    return damaged(state.error().message);
  }
  return Read{Snapshot{cluster, lsn, static_cast<std::uint32_t>(chain), std::move(*state)}, hash};
}

}  // namespace hpsearch::daemon

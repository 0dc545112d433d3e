#include "daemon/store/tools/store_seal.hpp"

#include <array>
#include <cstring>
#include <span>
#include <tuple>
#include <utility>

#include "hpsearch/proto/events/stored.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

constexpr std::array<char, 8> magic{'h', 'p', 's', 'e', 'a', 'l', '0', '1'};
constexpr std::size_t summed_bytes = 36;
constexpr std::size_t record_bytes = 40;
constexpr std::size_t most_records = 2'000;

using Record = std::array<std::byte, record_bytes>;

template <typename Number>
void put(Record& record, std::size_t at, Number number) {
  for (std::size_t i = 0; i < sizeof number; ++i) {
    record[at + i] = static_cast<std::byte>(number >> (8 * i) & 0xFFU);
  }
}

template <typename Number>
Number get(std::span<const std::byte> record, std::size_t at) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) {
    number |= static_cast<Number>(std::to_integer<Number>(record[at + i]) << (8 * i));
  }
  return number;
}

Record record_of(const StoreHead& head) {
  Record record{};
  std::memcpy(record.data(), magic.data(), magic.size());
  put(record, 8, head.cluster);
  put(record, 16, head.epoch);
  put(record, 24, head.last.number());
  put(record, 32, std::uint32_t{head.closed ? 1U : 0U});
  put(record, summed_bytes, proto::crc32c(0, std::span(record).first(summed_bytes)));
  return record;
}

std::optional<StoreHead> head_in(std::span<const std::byte> record) {
  if (std::memcmp(record.data(), magic.data(), magic.size()) != 0 ||
      get<std::uint32_t>(record, summed_bytes) != proto::crc32c(0, record.first(summed_bytes))) {
    return std::nullopt;
  }
  return StoreHead{get<std::uint64_t>(record, 8), get<std::uint64_t>(record, 16),
                   engine::Lsn(get<std::uint64_t>(record, 24)), get<std::uint32_t>(record, 32) != 0};
}

}  // namespace

std::string StoreSeal::directory_of(const std::string& database) {
  return database.substr(0, database.rfind('/') + 1) + "sealed";
}

std::string StoreSeal::path_of(const std::string& database) {
  return directory_of(database) + "/" + database.substr(database.rfind('/') + 1) + ".seal";
}

Result<std::optional<StoreHead>> StoreSeal::read(FileSystem& files, const std::string& database) {
  const std::string path = path_of(database);
  const auto bytes = files.read(path);
  if (!bytes) {
    return bytes.error().code == Errc::not_found ? Result<std::optional<StoreHead>>(std::nullopt)
                                                 : bytes.error();
  }
  std::optional<StoreHead> highest;
  for (std::size_t at = 0; at + record_bytes <= bytes->size(); at += record_bytes) {
    // A power failure may leave a hole before a whole record.
    const auto head = head_in(std::span(*bytes).subspan(at, record_bytes));
    const auto order = [](const StoreHead& of) { return std::tie(of.epoch, of.last, of.closed); };
    if (head && (!highest || order(*highest) < order(*head))) {
      highest = head;
    }
  }
  if (!highest) {
    return Error{Errc::corrupt, path + " is damaged: no record in it is whole"};
  }
  return highest;
}

Result<StoreSeal> StoreSeal::begin(FileSystem& files, const std::string& database, const StoreHead& head) {
  const std::string directory = directory_of(database);
  const auto made = files.make_directory(directory);
  if (!made) {
    return made.error();
  }
  if (*made) {
    const std::string parent = database.substr(0, database.rfind('/') + 1);
    if (auto synced = files.sync_directory(parent.empty() ? "." : parent); !synced) {
      return synced.error();
    }
  }
  StoreSeal seal(files, path_of(database));
  if (auto begun = seal.begin_anew(head); !begun) {
    return begun.error();
  }
  if (auto named = seal.sync_name(); !named) {
    return named.error();
  }
  return seal;
}

Status StoreSeal::begin_anew(const StoreHead& head) {
  file_.reset();
  const std::string draft = path_ + ".new";
  auto file = files_->create(draft);
  if (!file) {
    return file.error();
  }
  Status done = (*file)->write(record_of(head));
  if (done) {
    done = (*file)->sync();  // Otherwise a power failure could leave the name with an empty file.
  }
  if (done) {
    done = files_->rename(draft, path_);
  }
  if (!done) {
    files_->remove(draft);
    return done;
  }
  file_ = std::move(file).value();
  records_ = 1;
  renamed_ = true;
  return done;
}

/// Otherwise a power failure could bring back the file that had the name before.
Status StoreSeal::sync_name() {
  if (renamed_) {
    if (auto synced = files_->sync_directory(path_.substr(0, path_.rfind('/'))); !synced) {
      return synced;
    }
    renamed_ = false;
  }
  return Done{};
}

Status StoreSeal::note_durably(const StoreHead& head) {
  note(head);
  if (!file_) {
    return Error{Errc::unavailable, "cannot write " + path_};
  }
  if (auto synced = file_->sync(); !synced) {
    return synced;
  }
  return sync_name();
}

void StoreSeal::note(const StoreHead& head) {
  if (!file_ || records_ == most_records) {
    static_cast<void>(begin_anew(head));
  } else if (file_->write(record_of(head))) {
    ++records_;
  } else {
    file_.reset();  // The file may end with a part of a record.
  }
}

}  // namespace hpsearch::daemon

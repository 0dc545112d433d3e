#include "daemon/backup/backup_set.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "daemon/store/files/blob_place.hpp"
#include "daemon/store/files/file_sync.hpp"
#include "daemon/store/files/file_system.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/files/sha256.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/proto/encoding/spell.hpp"

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

constexpr const char* sealed_name = "keys.sealed";
constexpr const char* events_name = "events.db";
constexpr std::string_view contexts_name = "contexts/";
constexpr std::string_view context_ending = ".tar";
constexpr std::string_view audit_name = "audit";
constexpr std::size_t piece_bytes = std::size_t{1} << 20U;
constexpr std::size_t most_record_bytes = std::size_t{256} << 20U;

std::string record_in(const std::string& directory) {
  return directory + "/" + backup_record_name;
}

/// Passes a file to `take` from its beginning, and returns its SHA-256. not_found: the file was removed.
template <class Take>
Result<std::string> read_through(const std::string& path, const Take& take) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) {
    Error error = system_error("cannot read " + path);
    error.code = errno == ENOENT ? Errc::not_found : error.code;
    return error;
  }
  files::Sha256 digest;
  std::vector<char> piece(piece_bytes);
  for (;;) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0) {
      return system_error("cannot read " + path);
    }
    if (got == 0) {
      return digest.hex();
    }
    const std::string_view bytes(piece.data(), static_cast<std::size_t>(got));
    digest.update(bytes);
    if (const Status taken = take(bytes); !taken) {
      return taken.error();
    }
  }
}

Result<std::string> digest_of(const std::string& path) {
  return read_through(path, [](std::string_view) -> Status { return Done{}; });
}

/// Copies a file, durable on return, and returns its SHA-256.
Result<std::string> copy(const std::string& from, const std::string& to) {
  auto writer = kernel_files().create(to);
  if (!writer) {
    return writer.error();
  }
  auto digest = read_through(
      from, [&](std::string_view bytes) { return (*writer)->write(std::as_bytes(std::span(bytes))); });
  if (!digest) {
    kernel_files().remove(to);
    return digest;
  }
  if (const Status synced = (*writer)->sync(); !synced) {
    return synced.error();
  }
  return digest;
}

Status write(const std::string& path, std::string_view content) {
  const std::array parts{std::as_bytes(std::span(content))};
  return write_file_durably(kernel_files(), path, parts);
}

std::string_view text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_context(std::string_view name) {
  return name.ends_with(context_ending) &&
         files::is_sha256(name.substr(0, name.size() - context_ending.size()));
}

/// Paths of the files that are copied unchanged.
std::vector<std::string> open_files_in(const std::string& directory, const std::string& blobs) {
  std::vector<std::string> paths;
  for (const std::string& name : kernel_files().names_in(blobs + "/contexts")) {
    if (is_context(name)) {
      paths.push_back(std::string(contexts_name) + name);
    }
  }
  for (const std::string& name : kernel_files().names_in(directory)) {
    if (name.starts_with(audit_name)) {
      paths.push_back(name);
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Status check_context(const std::string& path, const std::string& directory, const std::string& digest) {
  if (path.starts_with(contexts_name) && path.substr(contexts_name.size(), digest.size()) != digest) {
    return Error{Errc::corrupt, directory + "/" + path +
                                    " is damaged: its content doesn't match its name. Programs that need it "
                                    "fail; move it away, or put it back from a copy"};
  }
  return Done{};
}

Result<std::map<std::string, std::string>> copy_files(const std::string& state, const std::string& to) {
  const auto blobs = blobs_of(state);
  if (!blobs) {
    return blobs.error();
  }
  std::map<std::string, std::string> digests;
  if (const auto made = kernel_files().make_directory(to + "/contexts"); !made) {
    return made.error();
  }
  for (const std::string& path : open_files_in(state, *blobs)) {
    const std::string& from = path.starts_with(contexts_name) ? *blobs : state;
    if (::access((to + "/" + path).c_str(), F_OK) == 0) {
      continue;
    }
    const auto digest = copy(from + "/" + path, to + "/" + path);
    if (!digest && digest.error().code == Errc::not_found) {
      continue;  // The daemon has removed it meanwhile, because no experiment needs it.
    }
    if (!digest) {
      return digest.error();
    }
    if (const Status same = check_context(path, from, *digest); !same) {
      kernel_files().remove(to + "/" + path);
      return same.error();
    }
    digests.emplace(path, *digest);
  }
  for (const std::string& directory : {to + "/contexts", to}) {
    if (const Status synced = kernel_files().sync_directory(directory); !synced) {
      return synced.error();
    }
  }
  return digests;
}

/// Removes only the parts of an unfinished backup.
void remove_draft(const std::string& draft) noexcept {
  std::error_code ignored;
  for (const std::string& path : open_files_in(draft, draft)) {
    fs::remove(draft + "/" + path, ignored);
  }
  for (const char* name : {"/events.db", "/events.db.new", "/events.db.new-journal", "/events.db.new-wal",
                           "/keys.sealed", "/keys.sealed.new", "/backup.json", "/backup.json.new"}) {
    fs::remove(draft + name, ignored);
  }
  ::rmdir((draft + "/contexts").c_str());
  ::rmdir(draft.c_str());
}

}  // namespace

Result<NewBackup> NewBackup::begin(const std::string& path) {
  if (::access(path.c_str(), F_OK) == 0) {
    return Error{Errc::wrong_state, path + " already exists; name another directory"};
  }
  NewBackup made(path);
  remove_draft(made.draft_);
  if (::mkdir(made.draft_.c_str(), 0700) != 0) {
    if (errno == EEXIST) {
      const std::string draft = std::exchange(made.draft_, "");
      return Error{Errc::wrong_state, draft + " has files that are no part of a backup; move them away"};
    }
    return system_error("cannot make the directory " + made.draft_);
  }
  return made;
}

NewBackup::NewBackup(NewBackup&& other) noexcept
    : path_(std::move(other.path_)), draft_(std::exchange(other.draft_, "")) {
}

NewBackup::~NewBackup() {
  if (!draft_.empty()) {
    remove_draft(draft_);
  }
}

Status NewBackup::finish(const std::string& state_directory, const std::optional<BackupKey>& key,
                         engine::Lsn last_lsn, engine::Instant wall_clock) {
  auto digests = copy_files(state_directory, draft_);
  if (!digests) {
    return digests.error();
  }
  BackupRecord record{last_lsn, wall_clock.micros(), key.has_value(), std::move(digests).value()};
  const auto events = digest_of(this->events());
  if (!events) {
    return events.error();
  }
  record.files.emplace(events_name, *events);
  if (key) {
    const auto keys = keys_in(state_directory);
    const auto sealed = keys ? seal_keys(*keys, *key) : Result<std::string>(keys.error());
    if (!sealed) {
      return sealed.error();
    }
    const std::string path = draft_ + "/" + sealed_name;
    if (const Status written = write(path, *sealed); !written) {
      return written;
    }
    const auto bytes = kernel_files().read(path);
    const auto opened = bytes ? open_keys(text(*bytes), *key) : Result<KeyFiles>(bytes.error());
    if (!opened || *opened != *keys) {
      return Error{Errc::corrupt, path + " can't be opened after it was written"};
    }
    record.files.emplace(sealed_name, files::sha256_of(*sealed));
  }
  if (const Status checked = check_backup_files(draft_, record); !checked) {
    return checked;
  }
  const std::string description = proto::pretty_json(proto::encode_value(record)) + "\n";
  if (const Status written = write(record_in(draft_), description); !written) {
    return written;
  }
  if (::access(path_.c_str(), F_OK) == 0) {
    return Error{Errc::wrong_state, path_ + " already exists; name another directory"};
  }
  if (const Status named = kernel_files().rename(draft_, path_); !named) {
    return named;
  }
  draft_.clear();
  return kernel_files().sync_directory(fs::path(path_).parent_path().string());
}

Result<BackupRecord> parse_backup_record(std::string_view json, const std::string& path) {
  const auto value = proto::parse_json(json, {.bytes = most_record_bytes, .nodes = most_record_bytes});
  auto record = value ? proto::decode_value<BackupRecord>(*value) : Result<BackupRecord>(value.error());
  return record ? std::move(record) : Error{Errc::corrupt, path + " is damaged: " + record.error().message};
}

Result<std::optional<BackupRecord>> read_backup_record(const std::string& directory) {
  const std::string path = record_in(directory);
  const auto bytes = kernel_files().read(path);
  if (!bytes) {
    return bytes.error().code == Errc::not_found ? Result<std::optional<BackupRecord>>(std::nullopt)
                                                 : bytes.error();
  }
  auto record = parse_backup_record(text(*bytes), path);
  return record ? Result<std::optional<BackupRecord>>(std::optional(std::move(record).value()))
                : record.error();
}

Status check_backup_files(const std::string& directory, const BackupRecord& record) {
  for (const auto& [path, digest] : record.files) {
    if (path.starts_with('/') || path.find("..") != std::string::npos) {
      return Error{Errc::corrupt, record_in(directory) + " names a file outside of it: " + path};
    }
    const auto found = digest_of(directory + "/" + path);
    if (!found || *found != digest) {
      return Error{Errc::corrupt, directory + "/" + path +
                                      (found ? " is damaged: it isn't as the backup has written it"
                                             : " is missing or unreadable: " + found.error().message)};
    }
  }
  return Done{};
}

Result<KeyFiles> open_sealed_keys(const std::string& directory, const BackupKey& key) {
  const auto bytes = kernel_files().read(directory + "/" + sealed_name);
  return bytes ? open_keys(text(*bytes), key) : Result<KeyFiles>(bytes.error());
}

Result<KeyFiles> keys_in(const std::string& state_directory) {
  KeyFiles keys;
  for (const char* name : key_file_names) {
    const auto bytes = kernel_files().read(state_directory + "/" + name);
    if (bytes) {
      keys.emplace(name, text(*bytes));
    } else if (bytes.error().code != Errc::not_found) {
      return bytes.error();
    }
  }
  return keys;
}

Status put_keys(const KeyFiles& keys, const std::string& state_directory) {
  for (const auto& [name, content] : keys) {
    if (std::find(key_file_names.begin(), key_file_names.end(), name) == key_file_names.end()) {
      return Error{Errc::bad_request, "the backup has a key file of an unknown name: " + name};
    }
    const std::string path = state_directory + "/" + name;
    if (::access(path.c_str(), F_OK) == 0) {
      continue;
    }
    if (const Status written = write(path, content); !written) {
      return written;
    }
  }
  return Done{};
}

Status copy_open_files(const std::string& from, const std::string& to) {
  const auto copied = copy_files(from, to);
  return copied ? Status(Done{}) : Status(copied.error());
}

}  // namespace hpsearch::daemon

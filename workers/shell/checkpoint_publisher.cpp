#include "hpsearch/workers/shell/checkpoint_publisher.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/checkpoint_owner.hpp"
#include "hpsearch/proto/json.hpp"
#include "hpsearch/proto/record.hpp"
#include "hpsearch/proto/stored.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::AttemptKey;
using engine::CheckpointReport;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using engine::Units;
using engine::Value;
using proto::CheckpointManifest;
using proto::ManifestEntry;

namespace {

/// Size and checksum of one file, and its content on the disk for good.
Result<std::pair<std::uint64_t, std::uint32_t>> seal(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) {
    return file_error("cannot read", path, errno);
  }
  std::vector<std::byte> piece(256 * 1024);
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  for (;;) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return file_error("cannot read", path, errno);
    }
    if (got == 0) {
      break;
    }
    crc = proto::crc32c(crc, std::span<const std::byte>(piece).first(static_cast<std::size_t>(got)));
    size += static_cast<std::uint64_t>(got);
  }
  if (::fsync(file.get()) != 0) {
    return file_error("cannot write", path, errno);
  }
  return std::pair{size, crc};
}

Status seal_tree(const fs::path& directory, const std::string& prefix, std::vector<ManifestEntry>& content) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    entries.push_back(at->path());
  }
  if (error) {
    return file_error("cannot read", directory, error);
  }
  std::sort(entries.begin(), entries.end());
  for (const fs::path& path : entries) {
    const std::string name = prefix + path.filename().string();
    const fs::file_status status = fs::symlink_status(path, error);
    ManifestEntry entry;
    entry.path = name;
    if (fs::is_directory(status)) {
      if (const Status done = seal_tree(path, name + "/", content); !done) {
        return done;
      }
      continue;
    }
    if (fs::is_symlink(status)) {
      entry.link = fs::read_symlink(path, error).string();
    } else if (fs::is_regular_file(status)) {
      const auto sealed = seal(path);
      if (!sealed) {
        return sealed.error();
      }
      entry.bytes = sealed->first;
      entry.crc32c = sealed->second;
    } else {
      return Error{Errc::bad_request,
                   "the checkpoint holds " + name + ", which is neither file, directory nor link"};
    }
    content.push_back(std::move(entry));
  }
  return sync_path(directory);
}

/// A rename, or a copy and a removal where the two are on different file systems.
Status move_entry(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) {
    return Done{};
  }
  if (errno != EXDEV) {
    return file_error("cannot move a checkpoint to", to, errno);
  }
  if (const Status copied = copy_tree(from, to); !copied) {
    remove_tree(to);
    return copied;
  }
  remove_tree(from);
  return Done{};
}

/// A program that copies the checkpoint it started from brings the old manifest along; its own file of that
/// name would be lost instead, so it is refused.
Status drop_old_manifest(const fs::path& path) {
  std::error_code error;
  if (fs::symlink_status(path, error).type() == fs::file_type::not_found) {
    return Done{};
  }
  const Result<std::string> text = read_file(path, proto::largest_manifest);
  if (!text || text->find(proto::manifest_mark) == std::string::npos) {
    return Error{Errc::bad_request, std::string("the checkpoint holds a file ") + manifest_name +
                                        ", a name the worker needs itself; give it another name"};
  }
  fs::remove(path, error);
  return Done{};
}

std::vector<fs::path> names_in(const fs::path& directory, std::error_code& error) {
  std::vector<fs::path> names;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename());
  }
  return names;
}

/// Without its path.
CheckpointReport told_in(const CheckpointManifest& manifest, Units step) {
  CheckpointReport report;
  report.step = step;
  report.files = manifest.files.size();
  for (const ManifestEntry& entry : manifest.files) {
    report.bytes += entry.bytes.value_or(0);
  }
  return report;
}

Result<CheckpointManifest> read_manifest(const fs::path& path) {
  const Result<std::string> text = read_file(path, proto::largest_manifest);
  if (!text) {
    return text.error();
  }
  const Result<Value> value = proto::parse_json(*text, proto::manifest_limits);
  return value ? proto::decode_value<CheckpointManifest>(*value) : Result<CheckpointManifest>(value.error());
}

/// Fills the empty directory `to`: the content first, the manifest last.
Result<CheckpointReport> fill(const fs::path& from, const fs::path& to, const std::vector<fs::path>& names,
                              const AttemptKey& key, Units step) {
  for (const fs::path& name : names) {
    if (const Status moved = move_entry(from / name, to / name); !moved) {
      return moved.error();
    }
  }
  CheckpointManifest manifest{.what = proto::manifest_mark,
                              .format = 1,
                              .experiment = key.experiment,
                              .trial = key.trial,
                              .attempt = key.attempt,
                              .step = step,
                              .files = {}};
  if (const Status sealed = seal_tree(to, "", manifest.files); !sealed) {
    return sealed.error();
  }
  const std::string text = proto::pretty_json(proto::encode_value(manifest));
  if (const Status written = write_file(to / manifest_name, text, true); !written) {
    return written.error();
  }
  return told_in(manifest, step);
}

/// What lies at `to` already stays: the program wrote it later.
void put_back(const fs::path& from, const fs::path& to) {
  std::error_code error;
  for (const fs::path& name : names_in(from, error)) {
    if (name != manifest_name && !fs::exists(fs::symlink_status(to / name, error))) {
      static_cast<void>(move_entry(from / name, to / name).has_value());
    }
  }
}

Status not_anothers(const fs::path& experiment, std::uint64_t store) {
  if (store == 0) {
    return Done{};
  }
  const Result<std::string> found = read_file(experiment / proto::checkpoint_owner_name, 64 * 1024);
  if (!found) {
    return found.error().code == Errc::not_found ? Status(Done{}) : Status(found.error());
  }
  if (*found == proto::checkpoint_owner(store)) {
    return Done{};
  }
  return Error{Errc::wrong_state,
               experiment.string() + proto::of_another_owner(*found, store) +
                   "; give this one's checkpoint_storage another host_path or storage_path, or "
                   "remove that directory if nobody needs it"};
}

/// Of two stores that claim it at once, one is refused.
Status claim(const fs::path& experiment, const AttemptKey& key, std::uint64_t store) {
  const fs::path owner = experiment / proto::checkpoint_owner_name;
  std::error_code error;
  if (store == 0 || fs::exists(owner, error)) {
    return not_anothers(experiment, store);
  }
  // No other worker's of this name.
  const fs::path own = owner.string() + "." + std::to_string(store) + "-" +
                       std::to_string(key.trial.number()) + "-" + engine::label_of(key);
  if (const Status written = write_file(own, proto::checkpoint_owner(store), true); !written) {
    return written;
  }
  if (::link(own.c_str(), owner.c_str()) != 0 && errno != EEXIST) {
    fs::rename(own, owner, error);  // Some file systems have no links.
  }
  fs::remove(own, error);
  return not_anothers(experiment, store);
}

Result<std::optional<CheckpointReport>> publish(const fs::path& from, const fs::path& root,
                                                const AttemptKey& key, Units step, std::uint64_t store) {
  if (!root.is_absolute()) {
    return Error{Errc::bad_request, "checkpoint storage " + root.string() + " is no absolute path"};
  }
  if (const Status usable = drop_old_manifest(from / manifest_name); !usable) {
    return usable.error();
  }
  const fs::path place = checkpoint_place(root, key, step);
  const fs::path experiment = place.parent_path().parent_path();
  if (const Status ours = not_anothers(experiment, store); !ours) {
    return ours.error();
  }
  const fs::path unfinished = place.parent_path() / ("." + place.filename().string() + ".unfinished");
  const fs::path replaced = place.parent_path() / ("." + place.filename().string() + ".replaced");
  put_back(unfinished, from);  // A worker died while it moved them.
  std::error_code error;
  const std::vector<fs::path> names = names_in(from, error);
  if (error) {
    return file_error("cannot read", from, error);
  }
  if (names.empty()) {
    // A worker that died before it could tell has left it complete in its place.
    return told_by(place / manifest_name, step);
  }
  if (const Status made = make_directories(place.parent_path()); !made) {
    return made.error();
  }
  if (const Status claimed = claim(experiment, key, store); !claimed) {
    return claimed.error();
  }
  remove_tree(unfinished);
  if (const Status made = make_directories(unfinished); !made) {
    return made.error();
  }
  Result<CheckpointReport> report = fill(from, unfinished, names, key, step);
  if (!report) {
    put_back(unfinished, from);
    remove_tree(unfinished);
    return report.error();
  }
  remove_tree(replaced);
  const bool again = ::rename(place.c_str(), replaced.c_str()) == 0;
  if (::rename(unfinished.c_str(), place.c_str()) != 0) {
    const Error failed = file_error("cannot move a checkpoint to", place, errno);
    if (again) {
      ::rename(replaced.c_str(), place.c_str());
    }
    put_back(unfinished, from);
    remove_tree(unfinished);
    return failed;
  }
  for (const fs::path& parent : {place.parent_path(), place.parent_path().parent_path(), root}) {
    if (const Status synced = sync_path(parent); !synced) {
      return synced.error();
    }
  }
  remove_tree(replaced);
  report->path = place.string();
  return std::optional<CheckpointReport>(*std::move(report));
}

}  // namespace

fs::path checkpoint_place(const fs::path& root, const AttemptKey& key, Units step) {
  return root / std::to_string(key.experiment.number()) / std::to_string(key.trial.number()) /
         (engine::label_of(key) + "-" + std::to_string(count(step)));
}

std::optional<CheckpointReport> told_by(const fs::path& manifest_file, Units step) {
  const Result<CheckpointManifest> manifest = read_manifest(manifest_file);
  if (!manifest) {
    return std::nullopt;
  }
  CheckpointReport report = told_in(*manifest, step);
  report.path = manifest_file.parent_path().string();
  return report;
}

Status verify_checkpoint(const fs::path& place) {
  const Result<CheckpointManifest> manifest = read_manifest(place / manifest_name);
  if (!manifest) {
    return manifest.error().code == Errc::corrupt
               ? Error{Errc::corrupt, "its " + std::string(manifest_name) + " is damaged"}
               : Error{Errc::not_found, "it has no " + std::string(manifest_name)};
  }
  for (const ManifestEntry& entry : manifest->files) {
    if (!entry.bytes || !entry.crc32c) {
      continue;  // A link: object stores have none.
    }
    const auto sealed = seal(place / entry.path);
    if (!sealed || sealed->first != entry.bytes || sealed->second != entry.crc32c) {
      return Error{Errc::corrupt, entry.path + " is missing or damaged"};
    }
  }
  return engine::Done{};
}

Result<std::optional<CheckpointReport>> publish_checkpoint(const OwnDirectory& from, const fs::path& root,
                                                           const AttemptKey& key, Units step,
                                                           std::uint64_t store) {
  const Result<OpenedDirectory> opened = open_own_directory(from);
  if (!opened) {
    return opened.error();
  }
  try {
    Result<std::optional<CheckpointReport>> published = publish(opened->path(), root, key, step, store);
    return published ? published : opened->with_name(published.error());
  } catch (const std::exception& error) {  // The file system library throws when memory is short.
    return Error{Errc::unavailable, std::string("cannot take a checkpoint: ") + error.what()};
  }
}

}  // namespace hpsearch::workers

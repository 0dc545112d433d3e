#include "hpsearch/workers/shell/transfer/checkpoint_publisher.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "hpsearch/io/files/tree.hpp"
#include "hpsearch/proto/events/stored.hpp"
#include "hpsearch/proto/wire/checkpoint_owner.hpp"
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
using proto::CheckpointManifest;
using proto::ManifestEntry;

using files::Directory;
using files::Entry;
using files::Kind;

namespace {

/// The size and the checksum of a file, whose content is synced to the disk.
Result<std::pair<std::uint64_t, std::uint32_t>> seal(const Directory& directory, const fs::path& name) {
  const Result<Descriptor> file = directory.file(name);
  if (!file) {
    return file.error();
  }
  std::vector<std::byte> piece(256 * 1024);
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  for (;;) {
    const ssize_t got = ::read(file->get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return directory.failed("cannot read", name, errno);
    }
    if (got == 0) {
      break;
    }
    crc = proto::crc32c(crc, std::span<const std::byte>(piece).first(static_cast<std::size_t>(got)));
    size += static_cast<std::uint64_t>(got);
  }
  if (::fsync(file->get()) != 0) {
    return directory.failed("cannot write", name, errno);
  }
  return std::pair{size, crc};
}

Status seal_tree(const Directory& directory, const std::string& prefix, int depth,
                 std::vector<ManifestEntry>& content) {
  if (depth > files::deepest_tree) {
    return Error{Errc::bad_request, "the checkpoint has more than " + std::to_string(files::deepest_tree) +
                                        " directories inside each other"};
  }
  const Result<std::vector<Entry>> entries = directory.entries();
  if (!entries) {
    return entries.error();
  }
  for (const Entry& found : *entries) {
    ManifestEntry entry;
    entry.path = prefix + found.name;
    switch (found.kind) {
      case Kind::directory: {
        const Result<Directory> inside = directory.directory(found.name);
        const Status sealed =
            inside ? seal_tree(*inside, entry.path + "/", depth + 1, content) : Status(inside.error());
        if (!sealed) {
          return sealed;
        }
        continue;
      }
      case Kind::link: {
        Result<std::string> target = directory.link_target(found.name);
        if (!target) {
          return target.error();
        }
        entry.link = *std::move(target);
        break;
      }
      case Kind::file: {
        const auto sealed = seal(directory, found.name);
        if (!sealed) {
          return sealed.error();
        }
        entry.bytes = sealed->first;
        entry.crc32c = sealed->second;
        break;
      }
      case Kind::other:
        return Error{Errc::bad_request,
                     "the checkpoint holds " + entry.path + ", which is neither file, directory nor link"};
    }
    content.push_back(std::move(entry));
  }
  return directory.sync();
}

/// Removes the manifest that a program copied with the checkpoint from which it started. A program's own file
/// with that name would be lost, so it is refused.
Status drop_old_manifest(const Directory& from) {
  const Result<std::optional<Kind>> there = from.kind(manifest_name);
  if (!there || !there->has_value()) {
    return there ? Status(Done{}) : Status(there.error());
  }
  const Result<std::string> text = from.read(manifest_name, proto::largest_manifest);
  if (!text || text->find(proto::manifest_mark) == std::string::npos) {
    return Error{Errc::bad_request, std::string("the checkpoint holds a file ") + manifest_name +
                                        ", a name the worker needs itself; give it another name"};
  }
  return from.remove(manifest_name);
}

/// The report without its path.
CheckpointReport report_from(const CheckpointManifest& manifest, Units step) {
  CheckpointReport report;
  report.step = step;
  report.files = manifest.files.size();
  for (const ManifestEntry& entry : manifest.files) {
    report.bytes += entry.bytes.value_or(0);
  }
  return report;
}

Result<CheckpointManifest> read_manifest(const Directory& directory, const fs::path& name) {
  const Result<std::string> text = directory.read(name, proto::largest_manifest);
  if (!text) {
    return text.error();
  }
  return proto::read_manifest(*text);
}

/// Fills the empty directory `to`: the content first, the manifest last.
Result<CheckpointReport> fill(const Directory& from, const Directory& to, const std::vector<Entry>& entries,
                              const AttemptKey& key, Units step) {
  for (const Entry& entry : entries) {
    if (const Status moved = files::move_entry(from, entry.name, to, entry.name); !moved) {
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
  if (const Status sealed = seal_tree(to, "", 0, manifest.files); !sealed) {
    return sealed.error();
  }
  if (const Status written = to.write(manifest_name, proto::manifest_text(manifest), true); !written) {
    return written.error();
  }
  return report_from(manifest, step);
}

/// Files that exist in `to` stay, because the program wrote them later.
void put_back(const Directory& trial, const std::string& unfinished, const Directory& to) {
  const Result<Directory> from = trial.directory(unfinished);
  const Result<std::vector<Entry>> entries =
      from ? from->entries() : Result<std::vector<Entry>>(from.error());
  if (!entries) {
    return;
  }
  for (const Entry& entry : *entries) {
    if (entry.name != manifest_name) {
      static_cast<void>(files::move_entry(*from, entry.name, to, entry.name).has_value());
    }
  }
}

Status not_anothers(const Directory& experiment, std::uint64_t store) {
  if (store == 0) {
    return Done{};
  }
  const Result<std::string> found = experiment.read(proto::checkpoint_owner_name, 64 * 1024);
  if (!found) {
    return found.error().code == Errc::not_found ? Status(Done{}) : Status(found.error());
  }
  if (*found == proto::checkpoint_owner(store)) {
    return Done{};
  }
  return Error{Errc::wrong_state,
               experiment.name().string() + proto::of_another_owner(*found, store) +
                   "; give this one's checkpoint_storage another host_path or storage_path, or "
                   "remove that directory if nobody needs it"};
}

/// If two stores claim it at once, one is refused.
Status claim(const Directory& experiment, std::uint64_t store) {
  if (store != 0) {
    const Status written =
        experiment.write_if_missing(proto::checkpoint_owner_name, proto::checkpoint_owner(store));
    if (!written) {
      return written;
    }
  }
  return not_anothers(experiment, store);
}

/// An earlier save of this step may be replaced; files of others are left unchanged.
Status may_be_replaced(const Directory& trial, const std::string& place, const AttemptKey& key, Units step) {
  const Result<std::optional<Kind>> there = trial.kind(place);
  if (!there || !there->has_value()) {
    return there ? Status(Done{}) : Status(there.error());
  }
  const Result<CheckpointManifest> manifest = read_manifest(trial, fs::path(place) / manifest_name);
  const bool ours = manifest && manifest->experiment == key.experiment && manifest->trial == key.trial &&
                    manifest->attempt == key.attempt && manifest->step == step;
  return ours ? Status(Done{})
              : Error{Errc::wrong_state,
                      (trial.name() / place).string() +
                          " exists and is not this attempt's checkpoint; it was left alone. Move it away"};
}

/// The directories of one trial's checkpoints, below the root.
struct Shelf {
  Directory experiment;
  Directory trial;
};

Result<std::optional<Shelf>> shelf_of(const Directory& root, const AttemptKey& key, std::uint64_t store) {
  Result<Directory> experiment = root.directory(std::to_string(key.experiment.number()));
  if (!experiment) {
    return experiment.error().code == Errc::not_found ? Result<std::optional<Shelf>>(std::nullopt)
                                                      : experiment.error();
  }
  if (const Status ours = not_anothers(*experiment, store); !ours) {
    return ours.error();
  }
  Result<Directory> trial = experiment->directory(std::to_string(key.trial.number()));
  if (!trial) {
    return trial.error().code == Errc::not_found ? Result<std::optional<Shelf>>(std::nullopt) : trial.error();
  }
  return std::optional(Shelf{*std::move(experiment), *std::move(trial)});
}

/// Moves the content of `from` to its place. No file is lost if that fails.
Result<CheckpointReport> place_on(const Shelf& shelf, const Directory& from, const std::string& place,
                                  const AttemptKey& key, Units step) {
  const std::string unfinished = "." + place + ".unfinished";
  const std::string replaced = "." + place + ".replaced";
  const Directory& trial = shelf.trial;
  if (const Status free = may_be_replaced(trial, place, key, step); !free) {
    return free.error();
  }
  const Result<std::vector<Entry>> entries = from.entries();
  if (!entries) {
    return entries.error();
  }
  Status ready = files::remove_tree(trial, unfinished);
  if (ready) {
    ready = trial.make_directory(unfinished);
  }
  const Result<Directory> draft = ready ? trial.directory(unfinished) : ready.error();
  if (!draft) {
    return draft.error();
  }
  Result<CheckpointReport> report = fill(from, *draft, *entries, key, step);
  if (report) {
    const Status emptied = files::remove_tree(trial, replaced);
    const Status aside = emptied ? files::move_entry(trial, place, trial, replaced) : emptied;
    const bool nothing_there = !aside && aside.error().code == Errc::not_found;
    const Status placed = aside || nothing_there ? files::move_entry(trial, unfinished, trial, place) : aside;
    if (!placed) {
      if (aside) {
        static_cast<void>(files::move_entry(trial, replaced, trial, place).has_value());
      }
      report = placed.error();
    }
  }
  if (!report) {
    put_back(trial, unfinished, from);
    static_cast<void>(files::remove_tree(trial, unfinished).has_value());
    return report;
  }
  report->path = (trial.name() / place).string();
  return report;
}

Result<std::optional<CheckpointReport>> publish(const Directory& from, const Directory& root,
                                                const AttemptKey& key, Units step, std::uint64_t store) {
  if (const Status usable = drop_old_manifest(from); !usable) {
    return usable.error();
  }
  const std::string place = checkpoint_place("", key, step).filename().string();
  Result<std::optional<Shelf>> shelf = shelf_of(root, key, store);
  if (!shelf) {
    return shelf.error();
  }
  if (shelf->has_value()) {
    put_back((*shelf)->trial, "." + place + ".unfinished", from);  // A worker ended while it moved them.
  }
  const Result<std::vector<Entry>> entries = from.entries();
  if (!entries) {
    return entries.error();
  }
  if (entries->empty()) {
    // A worker that ended before its report has left it complete in its place.
    const Result<Directory> directory =
        shelf->has_value() ? (*shelf)->trial.directory(place) : from.failed("cannot open", "", ENOENT);
    return directory ? report_of(*directory, manifest_name, step) : std::nullopt;
  }
  if (!shelf->has_value()) {
    const Status made = root.make_directories(checkpoint_place("", key, step).parent_path());
    shelf = made ? shelf_of(root, key, store) : Result<std::optional<Shelf>>(made.error());
    if (!shelf || !shelf->has_value()) {
      return shelf ? root.failed("cannot make directory", place, ENOENT) : shelf.error();
    }
  }
  const Shelf& here = **shelf;
  if (const Status claimed = claim(here.experiment, store); !claimed) {
    return claimed.error();
  }
  Result<CheckpointReport> report = place_on(here, from, place, key, step);
  if (!report) {
    return report.error();
  }
  for (const Directory* parent : {&here.trial, &here.experiment, &root}) {
    if (const Status synced = parent->sync(); !synced) {
      return synced.error();
    }
  }
  static_cast<void>(files::remove_tree(here.trial, "." + place + ".replaced").has_value());
  return std::optional<CheckpointReport>(*std::move(report));
}

}  // namespace

fs::path checkpoint_place(const fs::path& root, const AttemptKey& key, Units step) {
  return root / std::to_string(key.experiment.number()) / std::to_string(key.trial.number()) /
         (engine::label_of(key) + "-" + std::to_string(count(step)));
}

std::optional<CheckpointReport> report_of(const Directory& directory, const std::string& manifest_file,
                                          Units step) {
  const Result<CheckpointManifest> manifest = read_manifest(directory, manifest_file);
  if (!manifest) {
    return std::nullopt;
  }
  CheckpointReport report = report_from(*manifest, step);
  report.path = directory.name().string();
  return report;
}

Status verify_checkpoint(const Directory& place) {
  const Result<CheckpointManifest> manifest = read_manifest(place, manifest_name);
  if (!manifest && manifest.error().code == Errc::unavailable) {
    return manifest.error();
  }
  if (!manifest) {
    return manifest.error().code == Errc::corrupt
               ? Error{Errc::corrupt, "its " + std::string(manifest_name) + " is damaged"}
               : Error{Errc::not_found, "it has no " + std::string(manifest_name)};
  }
  for (const ManifestEntry& entry : manifest->files) {
    if (!entry.bytes || !entry.crc32c) {
      continue;  // A link: object stores have none.
    }
    const auto sealed = seal(place, entry.path);
    if (!sealed && sealed.error().code == Errc::unavailable) {
      return sealed.error();  // Reading failed, and may succeed later.
    }
    if (!sealed || sealed->first != entry.bytes || sealed->second != entry.crc32c) {
      return Error{Errc::corrupt, entry.path + " is missing or damaged"};
    }
  }
  return engine::Done{};
}

Result<std::optional<CheckpointReport>> publish_checkpoint(const OwnDirectory& from, const fs::path& root,
                                                           const AttemptKey& key, Units step,
                                                           std::uint64_t store) {
  const Result<Directory> opened = open_own_directory(from);
  if (!opened) {
    return opened.error();
  }
  if (!root.is_absolute()) {
    return Error{Errc::bad_request, "checkpoint storage " + root.string() + " is no absolute path"};
  }
  if (const Status made = make_directories(root); !made) {
    return made.error();
  }
  const Result<Directory> below = Directory::open(root);
  return below ? publish_checkpoint(*opened, *below, key, step, store) : below.error();
}

Result<std::optional<CheckpointReport>> publish_checkpoint(const Directory& from, const Directory& root,
                                                           const AttemptKey& key, Units step,
                                                           std::uint64_t store) {
  try {
    return publish(from, root, key, step, store);
  } catch (const std::exception& error) {  // Memory is short.
    return Error{Errc::unavailable, std::string("cannot take a checkpoint: ") + error.what()};
  }
}

}  // namespace hpsearch::workers

#include "hpsearch/workers/shell/transfer/kept_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <exception>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/io/files/tree.hpp"
#include "hpsearch/io/files/tree_walk.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"
#include "hpsearch/proto/wire/kept_files.hpp"
#include "hpsearch/workers/shell/json_file.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using files::Directory;
using files::Entry;
using files::Kind;
using proto::DroppedFile;
using proto::DroppedFiles;
using proto::KeptTrial;
using proto::KeptTrials;

namespace {

constexpr const char* stamps_name = "context.json";
constexpr const char* sent_name = "sent.json";
constexpr const char* work_name = "ml/usercode";
constexpr std::size_t most_files = 100'000;  // The maximum for one attempt; more files are a sign of a leak.
constexpr proto::JsonLimits stamps_limits{
    .bytes = std::size_t{256} * 1024 * 1024, .depth = 4, .nodes = std::size_t{16} * 1024 * 1024};

/// Only the kernel sets these: a file that was written, replaced or renamed has another pair.
using Stamp = std::pair<std::uint64_t, std::uint64_t>;

struct Stamps {
  std::vector<std::uint64_t> pairs;  ///< Inodes and times of change, alternating.
};

void spell(auto& fields, proto::Is<Stamps> auto& stamps) {
  fields("pairs", stamps.pairs);
}

/// The content of sent.json: the change that the daemon has received, or must receive.
struct SentRecord {
  std::uint64_t attempt = 0;
  std::uint64_t lease = 0;
  std::optional<double> metric;
  bool larger_is_better = false;
  std::uint64_t change = 0;
  bool sent = false;
};

void spell(auto& fields, proto::Is<SentRecord> auto& record) {
  fields("attempt", record.attempt);
  fields("lease", record.lease);
  fields.maybe("metric", record.metric);
  fields.maybe("larger_is_better", record.larger_is_better);
  fields("change", record.change);
  fields.maybe("sent", record.sent);
}

Stamp stamp_of(const struct ::stat& status) {
  return {status.st_ino, static_cast<std::uint64_t>(status.st_ctim.tv_sec) * 1'000'000'000U +
                             static_cast<std::uint64_t>(status.st_ctim.tv_nsec)};
}

std::uint64_t size_of(const struct ::stat& status) {
  return static_cast<std::uint64_t>(status.st_size);
}

/// Empty if the file can't be read: then everything counts as new.
std::set<Stamp> stamps_in(const Directory& attempt) {
  std::set<Stamp> known;
  const Result<Stamps> stamps = read_json_file<Stamps>(attempt, stamps_name, stamps_limits);
  for (std::size_t i = 0; stamps && i + 1 < stamps->pairs.size(); i += 2) {
    known.emplace(stamps->pairs[i], stamps->pairs[i + 1]);
  }
  return known;
}

void drop(DroppedFiles& dropped, const fs::path& path, std::uint64_t bytes, std::string why) {
  const std::string named = proto::to_utf8(path.string());
  const auto before = std::find_if(dropped.files.begin(), dropped.files.end(),
                                   [&named](const DroppedFile& file) { return file.path == named; });
  if (before != dropped.files.end()) {
    *before = {named, bytes, std::move(why)};
  } else if (dropped.files.size() < proto::most_named_dropped) {
    dropped.files.push_back({named, bytes, std::move(why)});
  } else {
    ++dropped.unnamed;
  }
}

/// Moves new files from a working directory to a trial's files.
class Mover {
 public:
  /// `owner`: only files of this user are taken; none = all.
  Mover(const std::set<Stamp>& known, std::optional<std::uint64_t> owner, const Directory& files,
        DroppedFiles& dropped)
      : known_(known), owner_(owner), files_(files), dropped_(dropped) {}

  void move_new(const Directory& from, const fs::path& below, int depth) {
    const Result<std::vector<Entry>> entries = from.entries();
    if (!entries) {
      drop(dropped_, below, 0, entries.error().message);
      return;
    }
    std::optional<Directory> to;
    for (const Entry& entry : *entries) {
      const fs::path path = below / entry.name;
      if (entry.kind == Kind::directory) {
        enter(from, entry.name, path, depth);
        continue;
      }
      const auto status = files::status_of(from, entry.name);
      if (!status || known_.contains(stamp_of(*status))) {
        continue;
      }
      if (entry.kind == Kind::other) {
        drop(dropped_, path, 0, "is neither file, directory nor link");
      } else if (++moved_ > most_files) {
        drop(dropped_, path, size_of(*status),
             "the trial left more than " + std::to_string(most_files) + " files");
      } else if (const Status placed = place(from, entry.name, below, to); !placed) {
        drop(dropped_, path, size_of(*status), placed.error().message);
      } else if (!dropped_.files.empty()) {
        std::erase_if(dropped_.files,
                      [&path](const DroppedFile& file) { return file.path == path.string(); });
      }
    }
  }

  [[nodiscard]] std::size_t moved() const noexcept { return moved_; }

 private:
  void enter(const Directory& from, const std::string& name, const fs::path& path, int depth) {
    if (name == "__pycache__") {
      return;
    }
    if (depth >= files::deepest_tree) {
      drop(dropped_, path, 0,
           "lies in more than " + std::to_string(files::deepest_tree) + " directories inside each other");
      return;
    }
    const Result<Directory> inside = from.directory(name);
    if (inside) {
      move_new(*inside, path, depth + 1);
    } else {
      drop(dropped_, path, 0, inside.error().message);
    }
  }

  /// `to` is the target directory of `below`, once it is opened.
  Status place(const Directory& from, const std::string& name, const fs::path& below,
               std::optional<Directory>& to) {
    if (!to) {
      Result<Directory> made = room_for(below);
      if (!made) {
        return made.error();
      }
      to.emplace(*std::move(made));
    }
    // A file of an earlier attempt with that name.
    const Status gone = to->has(name) ? files::remove_tree(*to, name) : Status(Done{});
    const Status moved = gone ? files::move_entry(from, name, *to, name) : gone;
    // Checked here, where the user can't replace it: a hard link to a file that the user may not read keeps
    // that file's owner.
    const auto status = moved && owner_ ? files::status_of(*to, name) : std::nullopt;
    if (!moved || !owner_ || (status && status->st_uid == *owner_)) {
      return moved;
    }
    static_cast<void>(to->remove(name).has_value());
    return Error{Errc::wrong_state, "belongs to another user than the program's"};
  }

  /// Removes a file or link of an earlier attempt that is in the place of a directory.
  Result<Directory> room_for(const fs::path& below) {
    fs::path path;
    for (const fs::path& part : below) {
      path /= part;
      const auto kind = files_.kind(path);
      if (kind && kind->has_value() && **kind != Kind::directory) {
        if (const Status gone = files_.remove(path); !gone) {
          return gone.error();
        }
      }
      if (const Status made = files_.make_directories(path); !made) {
        return made.error();
      }
    }
    if (!below.empty()) {
      return files_.directory(below);
    }
    Descriptor same(::fcntl(files_.descriptor(), F_DUPFD_CLOEXEC, 0));
    return same ? Result<Directory>(Directory(std::move(same), files_.name(), files_.rules()))
                : files_.failed("cannot open", "", errno);
  }

  const std::set<Stamp>& known_;
  std::optional<std::uint64_t> owner_;
  const Directory& files_;
  DroppedFiles& dropped_;
  std::size_t moved_ = 0;
};

struct Listed {
  fs::path path;
  std::uint64_t bytes = 0;
};

std::vector<Listed> files_in(const Directory& files) {
  std::vector<Listed> all;
  files::each_file(files, [&all](const files::TreeEntry& entry) {
    all.push_back({entry.path, size_of(entry.status)});
    return true;
  });
  return all;
}

std::vector<Listed> files_below(const Directory& trial) {
  const Result<Directory> files = trial.directory(proto::kept_files_name);
  return files ? files_in(*files) : std::vector<Listed>();
}

std::uint64_t bytes_of(const std::vector<Listed>& files) {
  std::uint64_t bytes = 0;
  for (const Listed& file : files) {
    bytes += file.bytes;
  }
  return bytes;
}

std::string limit_text(const Keeping& keeping) {
  return "keep_files.max_mb is " + std::to_string(keeping.max_bytes / 1'000'000);
}

/// A trial may not exceed the limit of the whole experiment: its largest files are dropped.
void trim(const Directory& files, std::vector<Listed>& listed, const Keeping& keeping,
          DroppedFiles& dropped) {
  std::sort(listed.begin(), listed.end(), [](const Listed& a, const Listed& b) {
    return std::pair(a.bytes, b.path) < std::pair(b.bytes, a.path);
  });
  std::uint64_t bytes = bytes_of(listed);
  while (bytes > keeping.max_bytes && !listed.empty()) {
    const Listed& largest = listed.back();
    static_cast<void>(files.remove(largest.path).has_value());
    drop(dropped, largest.path, largest.bytes, "the trial's files are too large: " + limit_text(keeping));
    bytes -= largest.bytes;
    listed.pop_back();
  }
}

template <class T>
Result<T> read_kept(const Directory& directory, const char* name) {
  return read_json_file<T>(directory, name, proto::kept_files_limits);
}

/// Records that the trial's files have changed, so that the change is sent to the daemon.
Status note_change(const Directory& trial, SentRecord record) {
  const Result<SentRecord> before = read_kept<SentRecord>(trial, sent_name);
  record.change = before ? before->change + 1 : 1;
  record.sent = false;
  return write_json_file(trial, sent_name, record, false);
}

DroppedFiles dropped_of(const Directory& trial) {
  Result<DroppedFiles> dropped = read_kept<DroppedFiles>(trial, proto::dropped_files_name);
  return dropped ? *std::move(dropped) : DroppedFiles();
}

/// If its list is missing or damaged, the existing files are counted again.
KeptTrials kept_in(const Directory& experiment) {
  if (Result<KeptTrials> kept = read_kept<KeptTrials>(experiment, proto::kept_trials_name)) {
    return *std::move(kept);
  }
  KeptTrials found;
  const Result<std::vector<Entry>> entries = experiment.entries();
  for (std::size_t i = 0; entries && i < entries->size(); ++i) {
    const auto number = engine::number_in<std::uint64_t>((*entries)[i].name);
    const Result<Directory> trial =
        number ? experiment.directory((*entries)[i].name) : Result<Directory>(Error{Errc::not_found, ""});
    const std::vector<Listed> files = trial ? files_below(*trial) : std::vector<Listed>();
    if (!files.empty()) {
      found.trials.push_back({engine::TrialNumber{*number}, files.size(), bytes_of(files), std::nullopt, 0});
    }
  }
  return found;
}

bool is_better(const KeptTrial& a, const KeptTrial& b, const Keeping& keeping) {
  if (a.metric && b.metric && *a.metric != *b.metric) {
    return keeping.larger_is_better ? *a.metric > *b.metric : *a.metric < *b.metric;
  }
  return a.metric.has_value() != b.metric.has_value() ? a.metric.has_value() : a.turn > b.turn;
}

/// Drops the files of the worst trials until the rest fits; returns these trials.
std::vector<engine::TrialNumber> make_room(const Directory& experiment, KeptTrials& kept,
                                           const Keeping& keeping) {
  std::sort(kept.trials.begin(), kept.trials.end(),
            [&keeping](const KeptTrial& a, const KeptTrial& b) { return is_better(a, b, keeping); });
  std::uint64_t bytes = 0;
  std::uint64_t last = 0;
  for (const KeptTrial& trial : kept.trials) {
    bytes += trial.bytes;
    last = std::max(last, trial.turn);
  }
  std::vector<engine::TrialNumber> gone;
  while (kept.trials.size() > 1 &&
         (bytes > keeping.max_bytes || kept.trials.size() > proto::most_kept_trials)) {
    auto worst = std::prev(kept.trials.end());
    if (worst->turn == last && kept.trials.size() > 2) {
      --worst;
    }
    const std::string name = std::to_string(worst->trial.number());
    if (const Result<Directory> trial = experiment.directory(name)) {
      DroppedFiles dropped = dropped_of(*trial);
      for (const Listed& file : files_below(*trial)) {
        drop(dropped, file.path, file.bytes, "better and later trials took the room: " + limit_text(keeping));
      }
      static_cast<void>(files::remove_tree(*trial, proto::kept_files_name).has_value());
      static_cast<void>(write_json_file(*trial, proto::dropped_files_name, dropped, false).has_value());
      if (const Result<SentRecord> record = read_kept<SentRecord>(*trial, sent_name)) {
        static_cast<void>(note_change(*trial, *record).has_value());
      }
    }
    gone.push_back(worst->trial);
    bytes -= worst->bytes;
    kept.trials.erase(worst);
    ++kept.dropped;
  }
  return gone;
}

/// The files that are dropped now and weren't `before`.
std::string dropped_text(const DroppedFiles& dropped, const DroppedFiles& before,
                         const std::vector<engine::TrialNumber>& gone) {
  constexpr std::size_t most_named = 3;
  std::string text;
  std::size_t named = 0;
  std::uint64_t more = dropped.unnamed - std::min(dropped.unnamed, before.unnamed);
  for (const DroppedFile& file : dropped.files) {
    const bool known = std::any_of(before.files.begin(), before.files.end(), [&file](const DroppedFile& old) {
      return old.path == file.path && old.why == file.why;
    });
    if (known) {
      continue;
    }
    if (named++ < most_named) {
      text += (text.empty() ? "" : "; ") + file.path + " is not kept: " + file.why;
    } else {
      ++more;
    }
  }
  if (more > 0) {
    text += "; " + std::to_string(more) + " more";
  }
  for (const engine::TrialNumber trial : gone) {
    text += (text.empty() ? "" : "; ") + ("the files of trial " + std::to_string(trial.number())) +
            " made room for better and later ones (keep_files.max_mb)";
  }
  return text;
}

/// The dropped files, and the trials whose files have changed.
struct TakenFiles {
  std::string dropped;
  std::vector<engine::TrialNumber> changed;
};

fs::path place_of(std::uint64_t store, engine::ExperimentId experiment) {
  return fs::path("trials") / std::to_string(store) / std::to_string(experiment.number());
}

Result<TakenFiles> take_files(const fs::path& state_directory, const AttemptDirectory& attempt,
                              const engine::AttemptKey& key, std::uint64_t store, const Keeping& keeping) {
  const Result<Directory> root = attempt.opened();
  const Result<Directory> work = root ? root->directory(work_name) : root.error();
  if (!work) {
    return work.error();
  }
  const Result<std::optional<UnixAccount>> account = attempt.runs_as();
  if (!account) {
    return account.error();
  }
  const fs::path place = place_of(store, key.experiment);
  const std::string number = std::to_string(key.trial.number());
  const Result<Directory> state = Directory::open(state_directory);
  const Status made =
      state ? state->make_directories(place / number / proto::kept_files_name) : Status(state.error());
  const Result<Directory> experiment = made ? state->directory(place) : made.error();
  const Result<Directory> trial = experiment ? experiment->directory(number) : experiment.error();
  const Result<Directory> files = trial ? trial->directory(proto::kept_files_name) : trial.error();
  if (!files) {
    return files.error();
  }
  DroppedFiles dropped = dropped_of(*trial);
  const DroppedFiles before = dropped;
  const std::set<Stamp> known = stamps_in(*root);
  Mover mover(known, *account ? std::optional((*account)->uid) : std::nullopt, *files, dropped);
  mover.move_new(*work, "", 0);
  std::vector<Listed> listed = files_in(*files);
  trim(*files, listed, keeping, dropped);
  if (listed.empty()) {
    static_cast<void>(files::remove_tree(*trial, proto::kept_files_name).has_value());
    if (dropped.files.empty()) {
      static_cast<void>(
          experiment->remove(number).has_value());  // It left no files, so nothing of it is kept.
      return TakenFiles();
    }
  }
  if (!dropped.files.empty() || !before.files.empty()) {
    if (const Status written = write_json_file(*trial, proto::dropped_files_name, dropped, false); !written) {
      return written.error();
    }
  }
  KeptTrials kept = kept_in(*experiment);
  KeptTrial now{key.trial, listed.size(), bytes_of(listed), keeping.metric, 1};
  for (const KeptTrial& other : kept.trials) {
    now.turn = std::max(now.turn, other.turn + 1);
    if (other.trial == key.trial && is_better(other, now, keeping)) {
      now.metric = other.metric;  // The metric of an earlier attempt.
    }
  }
  std::erase_if(kept.trials, [&key](const KeptTrial& other) { return other.trial == key.trial; });
  if (!listed.empty()) {
    kept.trials.push_back(now);
  }
  if (const Status noted = note_change(*trial, {.attempt = key.attempt.number(),
                                                .lease = key.lease.number(),
                                                .metric = now.metric,
                                                .larger_is_better = keeping.larger_is_better});
      !noted) {
    return noted.error();
  }
  const std::vector<engine::TrialNumber> gone = make_room(*experiment, kept, keeping);
  if (const Status written = write_json_file(*experiment, proto::kept_trials_name, kept, false); !written) {
    return written.error();
  }
  TakenFiles taken{dropped_text(dropped, before, gone), gone};
  taken.changed.push_back(key.trial);
  return taken;
}

}  // namespace

Status stamp_working_directory(const AttemptDirectory& attempt) {
  const Result<Directory> root = attempt.opened();
  const Result<Directory> work = root ? root->directory(work_name) : root.error();
  if (!work) {
    return work.error();
  }
  Stamps stamps;
  files::each_file(*work, [&stamps](const files::TreeEntry& entry) {
    const Stamp stamp = stamp_of(entry.status);
    stamps.pairs.insert(stamps.pairs.end(), {stamp.first, stamp.second});
    return true;
  });
  return write_json_file(*root, stamps_name, stamps, false);
}

Result<std::string> KeptFiles::take(const AttemptDirectory& attempt, const engine::AttemptKey& key,
                                    std::uint64_t store, const Keeping& keeping) {
  const std::scoped_lock lock(mutex_);
  try {
    Result<TakenFiles> taken = take_files(state_directory_, attempt, key, store, keeping);
    if (!taken) {
      return taken.error();
    }
    if (const auto looked_at = unsent_.find(store); looked_at != unsent_.end()) {
      for (const engine::TrialNumber trial : taken->changed) {
        looked_at->second.emplace(key.experiment, trial);
      }
    }
    return std::move(taken->dropped);
  } catch (const std::exception& error) {  // Memory is short, or a path is too long.
    return Error{Errc::unavailable, std::string("cannot keep files: ") + error.what()};
  }
}

void KeptFiles::look_for_unsent(std::uint64_t store) {
  if (unsent_.contains(store)) {
    return;
  }
  std::set<TrialKey>& found = unsent_[store];
  const Result<Directory> state = Directory::open(state_directory_);
  const Result<Directory> all =
      state ? state->directory(fs::path("trials") / std::to_string(store)) : state.error();
  const auto experiments = all ? all->entries() : Result<std::vector<Entry>>(all.error());
  for (std::size_t i = 0; experiments && i < experiments->size(); ++i) {
    const auto id = engine::number_in<std::uint64_t>((*experiments)[i].name);
    const Result<Directory> experiment =
        id ? all->directory((*experiments)[i].name) : Result<Directory>(Error{Errc::not_found, ""});
    const auto trials = experiment ? experiment->entries() : Result<std::vector<Entry>>(experiment.error());
    for (std::size_t n = 0; trials && n < trials->size(); ++n) {
      const auto trial_number = engine::number_in<std::uint64_t>((*trials)[n].name);
      const Result<Directory> trial = trial_number ? experiment->directory((*trials)[n].name)
                                                   : Result<Directory>(Error{Errc::not_found, ""});
      const Result<SentRecord> record =
          trial ? read_kept<SentRecord>(*trial, sent_name) : Result<SentRecord>(trial.error());
      if (record && !record->sent) {
        found.emplace(engine::ExperimentId(*id), engine::TrialNumber(*trial_number));
      }
    }
  }
}

std::vector<KeptFiles::TrialKey> KeptFiles::unsent(std::uint64_t store) {
  const std::scoped_lock lock(mutex_);
  look_for_unsent(store);
  return {unsent_[store].begin(), unsent_[store].end()};
}

Result<UnsentFiles> KeptFiles::unsent_files(std::uint64_t store, const TrialKey& which) {
  const std::scoped_lock lock(mutex_);
  const Result<Directory> state = Directory::open(state_directory_);
  Result<Directory> trial =
      state ? state->directory(place_of(store, which.first) / std::to_string(which.second.number()))
            : state.error();
  const Result<SentRecord> record =
      trial ? read_kept<SentRecord>(*trial, sent_name) : Result<SentRecord>(trial.error());
  if (!record) {
    return record.error();
  }
  const engine::AttemptKey key{which.first, which.second, engine::AttemptNumber(record->attempt),
                               engine::LeaseId(record->lease)};
  DroppedFiles dropped = dropped_of(*trial);
  return UnsentFiles{
      key, record->metric, record->larger_is_better, record->change, std::move(dropped), *std::move(trial)};
}

void KeptFiles::sent(std::uint64_t store, const UnsentFiles& files) {
  const std::scoped_lock lock(mutex_);
  Result<SentRecord> record = read_kept<SentRecord>(files.directory, sent_name);
  if (!record || record->change != files.change) {
    return;
  }
  record->sent = true;
  // If that can't be written, it is sent again later.
  static_cast<void>(write_json_file(files.directory, sent_name, *record, false).has_value());
  unsent_[store].erase({files.key.experiment, files.key.trial});
}

void KeptFiles::forget_unsent(std::uint64_t store, const TrialKey& trial) {
  const std::scoped_lock lock(mutex_);
  unsent_[store].erase(trial);
}

}  // namespace hpsearch::workers

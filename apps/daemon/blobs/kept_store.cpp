#include "daemon/blobs/kept_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "daemon/blobs/kept_tree.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/files/tree.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::daemon {

using engine::ExperimentId;
using engine::Result;
using engine::Status;
using engine::TrialNumber;
using engine::WorkerId;
using files::Directory;

void spell(auto& fields, proto::Is<StoredFiles> auto& stored) {
  fields("attempt", stored.attempt);
  spell(fields, stored.offer);
}

namespace {

std::string path_of(const KeptSet& set) {
  return std::to_string(set.experiment.number()) + "/" + std::to_string(set.trial.number()) + "/" +
         std::to_string(set.worker.number());
}

std::optional<std::uint64_t> removed_up_to(const Directory& experiment) {
  const Result<std::string> text = experiment.read(removed_logs_file, 32);
  return text ? engine::number_in<std::uint64_t>(*text) : std::nullopt;
}

void warn(const Status& done, const std::string& what) {
  if (!done) {
    net::log(net::Level::warning, what + " cannot be removed: " + done.error().message);
  }
}

/// Removes first the files that users see as logs, then the files about them. Removes directories that become
/// empty, too.
Status remove_logs_of(const Directory& experiment, TrialNumber trial) {
  const std::string name = std::to_string(trial.number());
  const std::uint64_t up_to = std::max(removed_up_to(experiment).value_or(0), trial.number());
  Status done = experiment.write(removed_logs_file, std::to_string(up_to), false, kept_file_mode);
  const Result<Directory> workers = done ? experiment.directory(name) : done.error();
  if (!workers) {
    return workers.error();
  }
  each_numbered(*workers, [&](std::uint64_t worker, const Directory& set) {
    for (const files::Entry& file : entries_of(set)) {
      if (done && is_about_logs(file.name)) {
        done = set.remove(file.name);
      }
    }
    static_cast<void>(workers->remove(std::to_string(worker)).has_value());
  });
  static_cast<void>(experiment.remove(name).has_value());
  return done;
}

}  // namespace

bool is_about_logs(std::string_view name) noexcept {
  return name.ends_with(log_ending) || name.ends_with(problem_ending);
}

Result<Directory> open_set(const std::string& directory, const KeptSet& set) {
  const Result<Directory> root = Directory::open(directory);
  return root ? root->directory(path_of(set)) : root.error();
}

Result<Directory> make_set(const std::string& directory, const KeptSet& set) {
  const Result<Directory> root = Directory::open(directory);
  const Status made = root ? root->make_directories(path_of(set)) : Status(root.error());
  return made ? root->directory(path_of(set)) : made.error();
}

std::vector<files::Entry> entries_of(const Directory& directory) {
  Result<std::vector<files::Entry>> entries = directory.entries();
  return entries ? *std::move(entries) : std::vector<files::Entry>();
}

void each_numbered(const Directory& directory,
                   const std::function<void(std::uint64_t number, const Directory& inside)>& take) {
  for (const files::Entry& entry : entries_of(directory)) {
    const auto number = engine::number_in<std::uint64_t>(entry.name);
    if (const Result<Directory> inside = number ? directory.directory(entry.name) : engine::Error{}) {
      take(*number, *inside);
    }
  }
}

std::optional<std::uint64_t> size_of(const Directory& directory, const std::string& name) {
  struct stat info {};
  return ::fstatat(directory.descriptor(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                 S_ISREG(info.st_mode)
             ? std::optional(static_cast<std::uint64_t>(info.st_size))
             : std::nullopt;
}

Result<StoredFiles> list_in(const Directory& set) {
  const auto text = set.read(list_file, proto::kept_files_limits.bytes);
  const auto value =
      text ? proto::parse_json(*text, proto::kept_files_limits) : Result<engine::Value>(text.error());
  return value ? proto::decode_value<StoredFiles>(*value) : Result<StoredFiles>(value.error());
}

Status write_list(const Directory& set, const StoredFiles& stored) {
  return set.write(list_file, engine::compact_json(proto::encode_value(stored)) + "\n", true, kept_file_mode);
}

Result<std::string> body_of(const std::string& body, const std::shared_ptr<const net::UploadedFile>& upload,
                            std::uint64_t limit) {
  if (upload == nullptr) {
    return body;
  }
  const std::filesystem::path path = upload->path();
  const Result<Directory> place = Directory::open(path.parent_path());
  return place ? place->read(path.filename(), limit) : place.error();
}

/// The content of the directory when the daemon starts.
struct KeptStore::Found {
  struct Set {
    KeptSet set;
    std::optional<StoredFiles> list;
    std::uint64_t bytes = 0;  ///< Bytes of contents, without the list.
  };
  std::vector<Set> sets;
  std::map<TrialKey, std::uint64_t> log_bytes;
  std::map<ExperimentId, TrialNumber> removed_up_to;
  std::map<TrialKey, Problems> problems;
};

KeptStore::KeptStore(net::Loop& loop, std::string directory, Limits limits, EndedAt ended_at)
    : directory_(std::move(directory)),
      limits_(limits),
      quota_(limits.quota),
      ended_at_(std::move(ended_at)),
      arriving_(make_arriving()),
      looking_(loop, 1),
      disk_(loop, 1) {
  quota_.limit_to(limits_.quota, limits_.logs);
  std::error_code error;
  std::filesystem::create_directories(directory_, error);  // A failure shows in the first write.
  looking_.run([this, where = directory_]() -> net::Background::Afterwards {
    return [this, found = look_around(where)] { add_found(found); };
  });
}

/// Takes a while if there are many files, and logs are stored meanwhile: a log that arrives before it is
/// counted here counts twice until the next start.
KeptStore::Found KeptStore::look_around(const std::string& directory) {
  Found found;
  const Result<Directory> root = Directory::open(directory);
  if (!root) {
    return found;
  }
  each_numbered(*root, [&found](std::uint64_t id, const Directory& trials) {
    const ExperimentId experiment(id);
    if (const auto removed = removed_up_to(trials)) {
      found.removed_up_to.emplace(experiment, TrialNumber(*removed));
    }
    each_numbered(trials, [&](std::uint64_t number, const Directory& workers) {
      const TrialKey trial{experiment, TrialNumber(number)};
      each_numbered(workers, [&](std::uint64_t worker, const Directory& set) {
        Found::Set files{{experiment, trial.second, WorkerId(worker)}, {}, 0};
        for (const files::Entry& file : entries_of(set)) {
          const std::string_view name = file.name;
          const std::uint64_t bytes = bytes_on_disk(size_of(set, file.name).value_or(0));
          if (name.ends_with(log_ending)) {
            found.log_bytes[trial] += bytes;
          } else if (name.ends_with(problem_ending)) {
            const Result<std::string> why = set.read(file.name, 4096);
            found.problems[trial][{file.name.substr(0, name.size() - problem_ending.size()),
                                   WorkerId(worker)}] = why ? *why : "it is not known why";
          } else if (name != list_file) {
            files.bytes += bytes;
          }
        }
        if (Result<StoredFiles> list = list_in(set)) {
          files.list = *std::move(list);
        }
        if (files.list || files.bytes > 0) {
          found.sets.push_back(std::move(files));
        }
      });
    });
  });
  return found;
}

void KeptStore::add_found(const Found& found) {
  for (const auto& [set, list, bytes] : found.sets) {
    KeptQuota::Weight weight{.bytes = bytes};
    if (list) {
      remember(set, *list);
      weight.metric = list->offer.metric;
      weight.larger_is_better = list->offer.larger_is_better;
    }
    quota_.count({set.experiment, KeptItem::Kind::files, set.trial, set.worker}, weight);
  }
  for (const auto& [trial, bytes] : found.log_bytes) {
    quota_.count_file({trial.first, KeptItem::Kind::logs, trial.second, {}}, bytes);
  }
  removed_up_to_.insert(found.removed_up_to.begin(), found.removed_up_to.end());
  for (const auto& [trial, problems] : found.problems) {
    problems_[trial].insert(problems.begin(), problems.end());
  }
  make_room(quota_.take_surplus(ended_at_));
}

void KeptStore::limit_to(Limits limits) {
  limits_ = limits;
  quota_.limit_to(limits.quota, limits.logs);
  make_room(quota_.take_surplus(ended_at_));
}

void KeptStore::make_room(const std::vector<KeptItem>& removed) {
  std::vector<TrialKey> logs;
  for (const KeptItem& item : removed) {
    if (item.kind == KeptItem::Kind::logs) {
      logs.emplace_back(item.experiment, item.trial);
      continue;
    }
    const KeptSet set{item.experiment, item.trial, item.worker};
    const auto offered = offers_.find(set);
    leave_on_worker(set, offered == offers_.end() ? nullptr : std::exchange(offered->second, nullptr),
                    [](const Status& done) { warn(done, "kept files"); });
  }
  if (!logs.empty()) {
    remove_logs(logs);
  }
}

void KeptStore::remove_logs(const std::vector<TrialKey>& removed) {
  logs_removed_(removed);
  for (const TrialKey& trial : removed) {
    TrialNumber& up_to = removed_up_to_.try_emplace(trial.first, trial.second).first->second;
    up_to = std::max(up_to, trial.second);
    problems_.erase(trial);
  }
  disk_.run([directory = directory_, removed]() -> net::Background::Afterwards {
    const Result<Directory> root = Directory::open(directory);
    for (const auto& [experiment, trial] : removed) {
      const Result<Directory> there =
          root ? root->directory(std::to_string(experiment.number())) : root.error();
      warn(there ? remove_logs_of(*there, trial) : Status(there.error()), "a log");
    }
    return [] {};
  });
}

/// Runs after the first scan, which counts what it finds, and after writes in progress.
void KeptStore::remove(ExperimentId experiment) {
  const auto remove_all = [this, experiment, directory = directory_]() -> net::Background::Afterwards {
    const std::string name = std::to_string(experiment.number());
    const Result<Directory> root = Directory::open(directory);
    warn(root ? files::remove_tree(*root, name) : Status(root.error()),
         "logs and files of experiment " + name);
    return [this, experiment] {
      quota_.forget(experiment);
      removed_up_to_.erase(experiment);
      const auto of_set = [experiment](const auto& entry) { return entry.first.experiment == experiment; };
      std::erase_if(listed_, of_set);
      std::erase_if(offers_, of_set);
      std::erase_if(problems_, [experiment](const auto& entry) { return entry.first.first == experiment; });
    };
  };
  looking_.run([this, remove_all]() -> net::Background::Afterwards {
    return [this, remove_all] { disk_.run(remove_all); };
  });
}

}  // namespace hpsearch::daemon

#include "daemon/blobs/kept_logs.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/io/archive/kept_log.hpp"
#include "hpsearch/io/files/directory.hpp"
#include "hpsearch/io/files/tree.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::ExperimentId;
using engine::Result;
using engine::Status;
using engine::TrialNumber;
using files::Directory;

constexpr std::string_view log_ending = ".zst";
constexpr std::string_view problem_ending = ".problem";
/// In an experiment's directory: the highest trial whose logs had to go.
constexpr const char* removed_file = "removed";
constexpr std::size_t longest_problem = 1024;
constexpr std::uint32_t mode = 0600;

std::string trial_directory(ExperimentId experiment, TrialNumber trial) {
  return std::to_string(experiment.number()) + "/" + std::to_string(trial.number());
}

std::string attempt_directory(const engine::AttemptKey& key) {
  return trial_directory(key.experiment, key.trial) + "/" + engine::label_of(key);
}

/// Of an attempt's part on a worker, as problems_ names it.
std::string part_of(const engine::AttemptKey& key, engine::WorkerId worker) {
  return engine::label_of(key) + "/" + std::to_string(worker.number());
}

std::string path_of(const LogName& name, std::string_view stream) {
  return attempt_directory(name.key) + "/" + std::to_string(name.worker.number()) + "." +
         std::to_string(name.process) + "." + std::string(stream) + std::string(log_ending);
}

std::string problem_path(const engine::AttemptKey& key, engine::WorkerId worker) {
  return attempt_directory(key) + "/" + std::to_string(worker.number()) + std::string(problem_ending);
}

std::uint64_t bytes_of(const Directory& directory, const std::string& path) {
  const auto file = directory.file(path);
  struct stat info {};
  return file && ::fstat(file->get(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

std::vector<files::Entry> entries_of(const Result<Directory>& directory) {
  Result<std::vector<files::Entry>> entries =
      directory ? directory->entries() : Result<std::vector<files::Entry>>(directory.error());
  return entries ? *std::move(entries) : std::vector<files::Entry>();
}

std::string read_or(const Directory& directory, const std::string& name, const std::string& otherwise) {
  Result<std::string> text = directory.read(name, longest_problem);
  return text ? *std::move(text) : otherwise;
}

struct Written {
  std::uint64_t bytes = 0;
  std::uint64_t before = 0;
};

Result<Written> write_log(const std::string& directory, const LogName& name,
                          const net::UploadedFile& upload) {
  const std::filesystem::path from = upload.path();
  const Result<Directory> place = Directory::open(from.parent_path());
  const Result<std::string> packed =
      place ? place->read(from.filename(), logs::most_packed_bytes) : Result<std::string>(place.error());
  if (!packed) {
    return packed.error();
  }
  if (const Status good = logs::check(*packed); !good) {
    return Error{good.error().code == Errc::corrupt ? Errc::bad_request : good.error().code,
                 good.error().message};
  }
  const Result<Directory> root = Directory::open(directory);
  if (!root) {
    return root.error();
  }
  const std::string path = path_of(name, name.stream);
  Written written{packed->size(), bytes_of(*root, path)};
  Status done = root->make_directories(attempt_directory(name.key));
  done = done ? root->write(path, *packed, false, mode) : done;
  done = done ? root->remove(problem_path(name.key, name.worker)) : done;
  return done ? Result<Written>(written) : done.error();
}

Result<KeptLogs::Piece> read_kept(const std::string& directory, const LogName& name, std::uint64_t offset,
                                  std::uint64_t limit, bool from_end) {
  const Result<Directory> root = Directory::open(directory);
  if (!root) {
    return root.error();
  }
  const Result<std::string> packed = root->read(path_of(name, name.stream), logs::most_packed_bytes);
  if (!packed && packed.error().code == Errc::not_found && name.stream == "stderr" &&
      root->has(path_of(name, "stdout"))) {
    return KeptLogs::Piece{};  // Workers send stderr only where something is in it.
  }
  if (!packed) {
    return packed.error();
  }
  Result<logs::Stretch> stretch = logs::unpack(*packed, offset, limit, from_end);
  if (!stretch) {
    return stretch.error();
  }
  KeptLogs::Piece piece{stretch->offset, stretch->size, {}};
  std::string& bytes = stretch->bytes;
  if (from_end && piece.offset > 0) {
    const std::size_t cut = proto::cut_character_at_start(bytes);
    bytes.erase(0, cut);
    piece.offset += cut;
  }
  if (stretch->goes_on) {
    bytes.resize(bytes.size() - proto::cut_character_at_end(bytes));  // The next piece begins with it.
  }
  piece.text = proto::clean_utf8(bytes);
  return piece;
}

void remove_trials(const std::string& directory, const LogQuota::Trials& trials) {
  const Result<Directory> root = Directory::open(directory);
  for (std::size_t i = 0; root && i < trials.size(); ++i) {
    const std::string experiment = std::to_string(trials[i].first.number());
    const std::string trial = std::to_string(trials[i].second.number());
    const Result<Directory> there = root->directory(experiment);
    if (!there) {
      continue;
    }
    const std::uint64_t before =
        engine::number_in<std::uint64_t>(read_or(*there, removed_file, "")).value_or(0);
    const std::uint64_t upto = std::max(before, trials[i].second.number());
    Status done = there->write(removed_file, std::to_string(upto), false, mode);
    done = done ? files::remove_tree(*there, trial) : done;
    if (!done) {
      net::log(net::Level::warning, "a log cannot be removed: " + done.error().message);
    }
  }
}

}  // namespace

/// What lay there when the daemon started.
struct KeptLogs::Found {
  std::map<TrialKey, std::uint64_t> bytes;
  std::map<ExperimentId, TrialNumber> removed_up_to;
  std::map<TrialKey, std::map<std::string, std::string>> problems;
};

KeptLogs::KeptLogs(net::Loop& loop, std::string directory, std::uint64_t quota, EndedAt ended_at)
    : directory_(std::move(directory)),
      quota_(quota),
      ended_at_(std::move(ended_at)),
      looking_(loop, 1),
      files_(loop, 1) {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);  // Whoever writes there says why it is not there.
  looking_.run([this, where = directory_]() -> net::Background::Afterwards {
    return [this, found = look_around(where)] {
      for (const auto& [trial, bytes] : found.bytes) {
        quota_.add(trial.first, trial.second, bytes);
      }
      for (const auto& [experiment, trial] : found.removed_up_to) {
        quota_.note_removed_up_to(experiment, trial);
      }
      for (const auto& [trial, problems] : found.problems) {
        problems_[trial].insert(problems.begin(), problems.end());
      }
      keep_within_quota();
    };
  });
}

/// Slow where there are many, so logs are taken meanwhile: one that comes before it is counted here counts
/// twice until the next start.
KeptLogs::Found KeptLogs::look_around(const std::string& directory) {
  Found found;
  const Result<Directory> root = Directory::open(directory);
  for (const files::Entry& experiment : entries_of(root)) {
    const auto id = engine::number_in<std::uint64_t>(experiment.name);
    const Result<Directory> trials = id ? root->directory(experiment.name) : Result<Directory>(Error{});
    if (!trials) {
      continue;
    }
    if (const auto removed = engine::number_in<std::uint64_t>(read_or(*trials, removed_file, ""))) {
      found.removed_up_to.emplace(ExperimentId(*id), TrialNumber(*removed));
    }
    for (const files::Entry& trial : entries_of(trials)) {
      const auto number = engine::number_in<std::uint64_t>(trial.name);
      const Result<Directory> attempts = number ? trials->directory(trial.name) : Result<Directory>(Error{});
      const TrialKey key{ExperimentId(*id), TrialNumber(number.value_or(0))};
      for (const files::Entry& attempt : entries_of(attempts)) {
        const Result<Directory> files = attempts->directory(attempt.name);
        for (const files::Entry& file : entries_of(files)) {
          const std::string_view name = file.name;
          if (name.ends_with(log_ending)) {
            found.bytes[key] += bytes_of(*files, file.name);
          } else if (name.ends_with(problem_ending)) {
            const std::string worker(name.substr(0, name.size() - problem_ending.size()));
            found.problems[key][attempt.name + "/" + worker] =
                read_or(*files, file.name, "it is not known why");
          }
        }
      }
    }
  }
  return found;
}

void KeptLogs::take(LogName name, std::shared_ptr<const net::UploadedFile> packed, Answer answer) {
  files_.run([this, directory = directory_, name = std::move(name), packed = std::move(packed),
              answer = std::move(answer)]() mutable -> net::Background::Afterwards {
    const Result<Written> written = write_log(directory, name, *packed);
    packed.reset();
    return [this, name, written, answer] {
      if (written) {
        quota_.add(name.key.experiment, name.key.trial, written->bytes, written->before);
        const auto problems = problems_.find({name.key.experiment, name.key.trial});
        if (problems != problems_.end()) {
          problems->second.erase(part_of(name.key, name.worker));
        }
        keep_within_quota();
      }
      answer(written ? Status(Done{}) : Status(written.error()));
    };
  });
}

void KeptLogs::keep_within_quota() {
  LogQuota::Trials surplus = quota_.take_surplus(ended_at_);
  if (surplus.empty()) {
    return;
  }
  for (const auto& trial : surplus) {
    problems_.erase(trial);
  }
  files_.run([directory = directory_, surplus = std::move(surplus)]() -> net::Background::Afterwards {
    remove_trials(directory, surplus);
    return [] {};
  });
}

void KeptLogs::remove(ExperimentId experiment) {
  // Behind the first look, which counts what it finds, and then behind what is being written.
  looking_.run([this, experiment]() -> net::Background::Afterwards {
    return [this, experiment] {
      files_.run([this, experiment, directory = directory_]() -> net::Background::Afterwards {
        const Result<Directory> root = Directory::open(directory);
        const Status gone =
            root ? files::remove_tree(*root, std::to_string(experiment.number())) : Status(root.error());
        if (!gone) {
          net::log(net::Level::warning, "logs of experiment " + std::to_string(experiment.number()) +
                                            " cannot be removed: " + gone.error().message);
        }
        return [this, experiment] {
          quota_.forget(experiment);
          std::erase_if(problems_,
                        [experiment](const auto& problem) { return problem.first.first == experiment; });
        };
      });
    };
  });
}

void KeptLogs::read(LogName name, std::uint64_t offset, std::uint64_t limit, bool from_end,
                    ReadAnswer answer) {
  files_.run([directory = directory_, name = std::move(name), offset, limit, from_end,
              answer = std::move(answer)]() -> net::Background::Afterwards {
    return [answer, piece = read_kept(directory, name, offset, limit, from_end)] { answer(piece); };
  });
}

void KeptLogs::note_problem(const engine::AttemptKey& key, engine::WorkerId worker, std::string_view why) {
  std::string text = proto::to_utf8(why.substr(0, longest_problem / 4));
  problems_[{key.experiment, key.trial}][part_of(key, worker)] = text;
  files_.run([directory = directory_, key, worker, text = std::move(text)]() -> net::Background::Afterwards {
    const Result<Directory> root = Directory::open(directory);
    Status done = root ? root->make_directories(attempt_directory(key)) : Status(root.error());
    done = done ? root->write(problem_path(key, worker), text, false, mode) : done;
    if (!done) {
      net::log(net::Level::warning, "why a log is not kept cannot be written down: " + done.error().message);
    }
    return [] {};
  });
}

std::string KeptLogs::problem_of(const engine::AttemptKey& key, engine::WorkerId worker) const {
  const auto trial = problems_.find({key.experiment, key.trial});
  if (trial == problems_.end()) {
    return "";
  }
  const auto part = trial->second.find(part_of(key, worker));
  return part == trial->second.end() ? "" : part->second;
}

std::string KeptLogs::problem_of(ExperimentId experiment, TrialNumber trial) const {
  const auto found = problems_.find({experiment, trial});
  std::uint64_t last = 0;
  std::string why;
  for (const auto& [part, problem] :
       found == problems_.end() ? std::map<std::string, std::string>() : found->second) {
    const std::uint64_t attempt =
        engine::number_in<std::uint64_t>(part.substr(0, part.find_first_of("./"))).value_or(0);
    if (attempt >= last) {
      last = attempt;
      why = problem;
    }
  }
  return why;
}

}  // namespace hpsearch::daemon

#include "cli/artifacts/log_source.hpp"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/client/answers.hpp"
#include "cli/client/server.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/experiment/trial_state.hpp"
#include "hpsearch/io/archive/kept_log.hpp"
#include "hpsearch/io/archive/log_files.hpp"
#include "hpsearch/io/files/directory.hpp"
#include "hpsearch/proto/api/trials.hpp"

namespace hpsearch::cli {

namespace fs = std::filesystem;
using files::Directory;

DaemonLogs::DaemonLogs(const Client& client, std::uint64_t experiment, std::uint64_t trial,
                       const LogStream& stream)
    : client_(client),
      target_(experiment_target(experiment, "/trials/" + std::to_string(trial))),
      whose_("stream=" + stream.name +
             (stream.worker != 0 ? "&worker=" + std::to_string(stream.worker)
              : stream.rank != 0 ? "&rank=" + std::to_string(stream.rank)
                                 : "")) {
}

Outcome<LogPart> DaemonLogs::read(std::uint64_t attempt, std::uint64_t offset, bool from_end) const {
  std::string target = target_ + "/log?" + whose_ + "&attempt=" + std::to_string(attempt) +
                       "&limit=" + std::to_string(log_part_bytes);
  target += from_end ? "&from_end=1" : "&offset=" + std::to_string(offset);
  auto piece = read_as<api::LogPiece>(client_.get(target));
  if (!piece) {
    return piece.failure();
  }
  return LogPart{piece->offset.value_or(0), piece->size.value_or(0), std::move(piece->text).value_or("")};
}

Outcome<LogSource::Course> DaemonLogs::course() const {
  const auto trial = read_as<api::Trial>(client_.get(target_));
  if (!trial) {
    return trial.failure();
  }
  return Course{trial->attempts, engine::is_closed(trial->state)};
}

LeftLogs::LeftLogs(const StateDirectory& state, std::uint64_t experiment, std::uint64_t trial,
                   const LogStream& stream)
    : attempts_(state.worker() / "attempts"),
      kept_(state.daemon() / "kept" / std::to_string(experiment) / std::to_string(trial)),
      prefix_(std::to_string(experiment) + "-" + std::to_string(trial) + "-"),
      name_(stream.name + (stream.rank == 0 ? "" : "." + std::to_string(stream.rank)) + ".log"),
      kept_ending_("." + std::to_string(stream.rank) + "." + stream.name + ".zst") {
}

std::optional<LogPart> LeftLogs::read_kept(std::uint64_t attempt, std::uint64_t offset, bool from_end) const {
  std::error_code ignored;
  for (const auto& worker : fs::directory_iterator(kept_, ignored)) {
    const auto set = Directory::open(worker.path());
    const auto packed = set ? set->read(std::to_string(attempt) + kept_ending_, logs::most_packed_bytes)
                            : engine::Result<std::string>(set.error());
    if (!packed) {
      continue;
    }
    if (auto stretch = logs::unpack(*packed, offset, log_part_bytes, from_end)) {
      return LogPart{stretch->offset, stretch->size, std::move(stretch->bytes)};
    }
  }
  return std::nullopt;
}

Outcome<LogPart> LeftLogs::read(std::uint64_t attempt, std::uint64_t offset, bool from_end) const {
  const fs::path path = attempts_ / (prefix_ + std::to_string(attempt));
  const auto directory = Directory::open(path);
  const auto log = directory ? logs::LogReader::open(*directory, name_)
                             : engine::Result<logs::LogReader>(directory.error());
  if (log) {
    logs::Stretch stretch = log->stretch(offset, log_part_bytes, from_end);
    return LogPart{stretch.offset, stretch.size, std::move(stretch.bytes)};
  }
  if (auto kept = read_kept(attempt, offset, from_end)) {
    return *std::move(kept);
  }
  return not_found_failure("there is no log " + (path / name_).string());
}

Outcome<LogSource::Course> LeftLogs::course() const {
  Course course{0, true};
  const auto count = [&course](const fs::path& directory, const std::string& prefix) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(directory, ignored)) {
      const std::string name = entry.path().filename().string();
      const auto attempt =
          name.starts_with(prefix)
              ? engine::number_in<std::uint64_t>(name.substr(prefix.size(), name.find('.') - prefix.size()))
              : std::nullopt;
      course.attempts = std::max(course.attempts, attempt.value_or(0));
    }
  };
  count(attempts_, prefix_);
  std::error_code ignored;
  for (const auto& worker : fs::directory_iterator(kept_, ignored)) {
    count(worker.path(), "");
  }
  return course;
}

}  // namespace hpsearch::cli

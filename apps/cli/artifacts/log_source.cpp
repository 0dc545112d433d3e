#include "cli/artifacts/log_source.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/client/server.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/trial/trial_state.hpp"
#include "hpsearch/io/archive/kept_log.hpp"

namespace hpsearch::cli {

namespace fs = std::filesystem;
using engine::Value;

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
  const Outcome<Value> answer = client_.get(target);
  if (!answer) {
    return answer.failure();
  }
  return LogPart{count_at(*answer, "offset"), count_at(*answer, "size"), text_at(*answer, "text")};
}

Outcome<LogSource::Course> DaemonLogs::course() const {
  const Outcome<Value> answer = client_.get(target_);
  if (!answer) {
    return answer.failure();
  }
  const auto state = engine::trial_state_named(text_at(*answer, "state"));
  return Course{count_at(*answer, "attempts"), state && engine::is_closed(*state)};
}

namespace {

/// One file of a log: "stdout.log", or "stdout.log.OFFSET" for what begins at that byte of the stream.
struct Piece {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  fs::path path;
  [[nodiscard]] std::uint64_t end() const noexcept { return begin + size; }
};

/// In order.
std::vector<Piece> pieces_of(const fs::path& directory, const std::string& name) {
  std::vector<Piece> pieces;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const std::string file = at->path().filename().string();
    Piece piece{.begin = 0, .size = 0, .path = at->path()};
    if (file != name) {
      const auto begin =
          file.starts_with(name + ".")
              ? engine::number_in<std::uint64_t>(std::string_view(file).substr(name.size() + 1))
              : std::nullopt;
      if (!begin) {
        continue;
      }
      piece.begin = *begin;
    }
    std::error_code gone;
    piece.size = fs::file_size(piece.path, gone);
    if (!gone) {
      pieces.push_back(std::move(piece));
    }
  }
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  return pieces;
}

std::string read_piece(const Piece& piece, std::uint64_t offset, std::uint64_t limit) {
  std::ifstream in(piece.path, std::ios::binary);
  std::string text(static_cast<std::size_t>(std::min(limit, piece.end() - offset)), '\0');
  in.seekg(static_cast<std::streamoff>(offset - piece.begin));
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

}  // namespace

LeftLogs::LeftLogs(const StateDirectory& state, std::uint64_t experiment, std::uint64_t trial,
                   const LogStream& stream)
    : attempts_(state.worker() / "attempts"),
      kept_(state.daemon() / "logs" / std::to_string(experiment) / std::to_string(trial)),
      prefix_(std::to_string(experiment) + "-" + std::to_string(trial) + "-"),
      name_(stream.name + (stream.rank == 0 ? "" : "." + std::to_string(stream.rank)) + ".log"),
      kept_ending_("." + std::to_string(stream.rank) + "." + stream.name + ".zst") {
}

std::optional<LogPart> LeftLogs::read_kept(std::uint64_t attempt, std::uint64_t offset, bool from_end) const {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(kept_ / std::to_string(attempt), ignored)) {
    if (!entry.path().filename().string().ends_with(kept_ending_)) {
      continue;
    }
    std::string packed(logs::most_packed_bytes + 1, '\0');
    std::ifstream in(entry.path(), std::ios::binary);
    in.read(packed.data(), static_cast<std::streamsize>(packed.size()));
    packed.resize(static_cast<std::size_t>(in.gcount()));
    if (auto stretch = logs::unpack(packed, offset, log_part_bytes, from_end)) {
      return LogPart{stretch->offset, stretch->size, std::move(stretch->bytes)};
    }
  }
  return std::nullopt;
}

Outcome<LogPart> LeftLogs::read(std::uint64_t attempt, std::uint64_t offset, bool from_end) const {
  const fs::path directory = attempts_ / (prefix_ + std::to_string(attempt));
  const std::vector<Piece> pieces = pieces_of(directory, name_);
  if (const auto kept = pieces.empty() ? read_kept(attempt, offset, from_end) : std::nullopt) {
    return *kept;
  }
  if (pieces.empty()) {
    return not_found_failure("there is no log " + (directory / name_).string());
  }
  LogPart part;
  part.size = pieces.back().end();
  part.offset = from_end ? part.size - std::min(log_part_bytes, part.size) : std::min(offset, part.size);
  for (const Piece& piece : pieces) {
    if (piece.end() <= part.end() || part.text.size() >= log_part_bytes) {
      continue;
    }
    if (piece.begin > part.end()) {
      if (!part.text.empty()) {
        break;  // Something was left out here; the next part begins behind it.
      }
      part.offset = piece.begin;
    }
    part.text += read_piece(piece, part.end(), log_part_bytes - part.text.size());
  }
  return part;
}

Outcome<LogSource::Course> LeftLogs::course() const {
  Course course{0, true};
  const auto count = [&course](const fs::path& directory, const std::string& prefix) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(directory, ignored)) {
      const std::string name = entry.path().filename().string();
      if (const auto number = name.starts_with(prefix) ? read_number(name.substr(prefix.size()), "attempt")
                                                       : Outcome<std::uint64_t>(std::uint64_t{0})) {
        course.attempts = std::max(course.attempts, *number);
      }
    }
  };
  count(attempts_, prefix_);
  count(kept_, "");
  return course;
}

}  // namespace hpsearch::cli

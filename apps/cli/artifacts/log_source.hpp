#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "cli/client/client.hpp"
#include "cli/client/state_directory.hpp"
#include "cli/verbs/failure.hpp"

namespace hpsearch::cli {

/// The most that is asked for at once.
inline constexpr std::uint64_t log_part_bytes = 128 * 1024;

/// A stretch of a log, and how long the whole of it is so far. Where a part was left out to bound the log,
/// the stretch behind it comes instead; its offset is larger than what was asked for then.
struct LogPart {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string text;
  [[nodiscard]] std::uint64_t end() const noexcept { return offset + text.size(); }
};

/// Whose output of an attempt.
struct LogStream {
  std::string name = "stdout";  ///< Or "stderr".
  std::uint64_t rank = 0;       ///< Which of its processes, as RANK numbers them.
  std::uint64_t worker = 0;  ///< The first of them on that worker instead; 0 = by rank. Only a daemon knows.
};

/// Where the logs of one stream of one trial come from.
class LogSource {
 public:
  virtual ~LogSource() = default;

  /// Up to log_part_bytes from `offset` on, or the last ones.
  [[nodiscard]] virtual Outcome<LogPart> read(std::uint64_t attempt, std::uint64_t offset,
                                              bool from_end) const = 0;

  /// The trial's last attempt so far, and whether it has no more to come.
  struct Course {
    std::uint64_t attempts = 0;
    bool over = false;
  };
  [[nodiscard]] virtual Outcome<Course> course() const = 0;
};

/// Asks the daemon, which asks the worker.
class DaemonLogs final : public LogSource {
 public:
  /// `client` must outlive it.
  DaemonLogs(const Client& client, std::uint64_t experiment, std::uint64_t trial, const LogStream& stream);
  [[nodiscard]] Outcome<LogPart> read(std::uint64_t attempt, std::uint64_t offset,
                                      bool from_end) const override;
  [[nodiscard]] Outcome<Course> course() const override;

 private:
  const Client& client_;
  std::string target_;
  std::string whose_;  ///< As the query says it.
};

/// Reads the files that the worker of a run has left, and where they are gone what its daemon has kept, when
/// no run is using its directory: nothing grows then, and no worker need be started, which would go on
/// training.
class LeftLogs final : public LogSource {
 public:
  LeftLogs(const StateDirectory& state, std::uint64_t experiment, std::uint64_t trial,
           const LogStream& stream);
  [[nodiscard]] Outcome<LogPart> read(std::uint64_t attempt, std::uint64_t offset,
                                      bool from_end) const override;
  [[nodiscard]] Outcome<Course> course() const override;

 private:
  [[nodiscard]] std::optional<LogPart> read_kept(std::uint64_t attempt, std::uint64_t offset,
                                                 bool from_end) const;

  std::filesystem::path attempts_;
  std::filesystem::path kept_;  ///< Of the trial.
  std::string prefix_;
  std::string name_;         ///< Of the log's file.
  std::string kept_ending_;  ///< Of the one that is kept, after its attempt's number.
};

}  // namespace hpsearch::cli

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "cli/client/client.hpp"
#include "cli/client/state_directory.hpp"
#include "cli/verbs/failure.hpp"

namespace hpsearch::cli {

/// The most that is requested at once.
inline constexpr std::uint64_t log_part_bytes = 128 * 1024;

/// A part of a log, and the present length of the whole log. If bytes were left out to bound the log, the
/// part after them is returned; its offset is then larger than the requested one.
struct LogPart {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string text;
  [[nodiscard]] std::uint64_t end() const noexcept { return offset + text.size(); }
};

/// Selects one of the outputs of an attempt.
struct LogStream {
  std::string name = "stdout";  ///< Or "stderr".
  std::uint64_t rank = 0;       ///< Rank of the process.
  std::uint64_t worker = 0;     ///< The first process on that worker instead; 0 = by rank. Only for a daemon.
};

/// Reads the logs of one stream of one trial.
class LogSource {
 public:
  virtual ~LogSource() = default;

  /// Up to log_part_bytes from `offset` on, or the last ones.
  [[nodiscard]] virtual Outcome<LogPart> read(std::uint64_t attempt, std::uint64_t offset,
                                              bool from_end) const = 0;

  /// The trial's last attempt so far, and whether it is the final one.
  struct Course {
    std::uint64_t attempts = 0;
    bool over = false;
  };
  [[nodiscard]] virtual Outcome<Course> course() const = 0;
};

/// Reads through the daemon, which gets the log from the worker.
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
  std::string whose_;  ///< As a part of the query.
};

/// Reads the files that the worker of a run has left, or else what its daemon has kept. For a directory that
/// no run is using: no log grows then, and no worker need be started, which would continue training.
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
  std::filesystem::path kept_;  ///< Directory of the trial's kept logs.
  std::string prefix_;
  std::string name_;         ///< Name of the log's file.
  std::string kept_ending_;  ///< Name of a kept log after its attempt's number.
};

}  // namespace hpsearch::cli

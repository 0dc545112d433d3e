#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "cli/artifacts/kept_files.hpp"
#include "cli/client/live_stream.hpp"
#include "cli/events/event_line.hpp"
#include "cli/render/waiting_note.hpp"
#include "cli/run/full_disk_wait.hpp"
#include "cli/run/run_session.hpp"
#include "hpsearch/proto/api/experiments.hpp"

namespace hpsearch::cli {

/// Time spent in the engine, over several daemons: each counts from zero.
class EngineTime {
 public:
  void note(std::uint64_t daemon_epoch, double seconds);
  [[nodiscard]] double seconds() const noexcept { return before_ + latest_; }

 private:
  std::uint64_t epoch_ = 0;
  double before_ = 0;
  double latest_ = 0;
};

/// Follows the search of a run: prints what happens, pauses it after Ctrl-C and prints a summary at the end.
class RunWatch {
 public:
  /// Reads the present search from the daemon. `run` must outlive the watch.
  [[nodiscard]] static Outcome<RunWatch> begin(RunSession& run);

  [[nodiscard]] const api::Experiment& detail() const noexcept { return detail_; }

  /// Reads the events since the last call. A daemon that does not answer is not a failure here.
  [[nodiscard]] Outcome<engine::Done> take_events(bool print);

  /// Returns when the search has ended or paused, or a Ctrl-C has paused it.
  [[nodiscard]] Outcome<Exit> follow();

  [[nodiscard]] Outcome<engine::Done> print_summary();
  [[nodiscard]] Exit exit_of_ended() const;

  /// An interrupt has paused the search.
  [[nodiscard]] bool is_paused() const noexcept { return paused_; }

 private:
  RunWatch(RunSession& run, api::Experiment detail, const std::string& cluster);

  [[nodiscard]] Outcome<engine::Done> look();
  void take_event(const engine::Value& event, bool print);
  [[nodiscard]] std::uint64_t running_trials() const;
  /// The search has paused itself, and none of its trials run.
  [[nodiscard]] bool has_paused_itself() const;
  /// Prints the last lines of the program's output when the first attempt fails; only once.
  void print_first_failure(const engine::Value& event);
  /// Prints warnings about the programs' reports, each kind once.
  void print_notes();
  /// Prints what is known about a failure, each kind once.
  void print_hint(const std::string& log_tail);
  /// Prints once why the daemon does not accept everything; prints it again only after a time in which it
  /// accepted everything.
  void print_storage(const std::string& why);
  /// After a first Ctrl-C: requests the pause once it can, and returns whether nothing runs any more.
  [[nodiscard]] bool pause_is_over();
  /// Prints what a full disk has prevented from being stored.
  void print_unstored();
  [[nodiscard]] double wall_seconds() const;
  /// Adds this run's times to the record. A failure is ignored: the times are not essential.
  void keep_times();

  RunSession& run_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  api::Experiment detail_;
  sentences::EventStory story_;
  KeptFiles kept_;
  std::uint64_t last_lsn_ = 0;
  std::set<std::string> printed_notes_;  // Kinds that were printed.
  std::set<std::string> printed_hints_;
  std::string printed_storage_;  // The printed reason why the daemon does not accept everything.
  WaitingNote waiting_;
  bool printed_failure_ = false;
  EngineTime engine_time_;
  bool pause_asked_ = false;
  bool paused_ = false;
  FullDiskWait full_disk_;
};

}  // namespace hpsearch::cli

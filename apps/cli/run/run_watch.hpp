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

/// Time spent in the engine, over daemons that come and go: each counts its own from zero.
class EngineTime {
 public:
  void note(std::uint64_t daemon_epoch, double seconds);
  [[nodiscard]] double seconds() const noexcept { return before_ + latest_; }

 private:
  std::uint64_t epoch_ = 0;
  double before_ = 0;
  double latest_ = 0;
};

/// Follows the search of a run: tells what happens, pauses it after Ctrl-C and sums it up at the end.
class RunWatch {
 public:
  /// The search as the daemon has it now. `run` has to outlive the watch.
  [[nodiscard]] static Outcome<RunWatch> begin(RunSession& run);

  [[nodiscard]] const api::Experiment& detail() const noexcept { return detail_; }

  /// Takes in what happened since the last call. A daemon that does not answer is no failure here.
  [[nodiscard]] Outcome<engine::Done> take_events(bool tell);

  /// Until the search has ended or paused, or a Ctrl-C has paused it.
  [[nodiscard]] Outcome<Exit> follow();

  [[nodiscard]] Outcome<engine::Done> print_summary();
  [[nodiscard]] Exit exit_of_ended() const;

  /// An interrupt has paused the search.
  [[nodiscard]] bool is_paused() const noexcept { return paused_; }

 private:
  RunWatch(RunSession& run, api::Experiment detail, const std::string& cluster);

  [[nodiscard]] Outcome<engine::Done> look();
  void take_event(const engine::Value& event, bool tell);
  [[nodiscard]] std::uint64_t running_trials() const;
  /// And nothing of it runs any more.
  [[nodiscard]] bool has_paused_itself() const;
  /// The last lines that the program printed when one of its attempts failed, of the first one only.
  void print_first_failure(const engine::Value& event);
  /// What is odd about the programs' reports, each kind once.
  void print_notes();
  /// What is known here of a failure, each kind once.
  void print_hint(const std::string& log_tail);
  /// Says why the daemon takes less than everything, once; nothing when it takes all of it again.
  void print_storage(const std::string& why);
  /// After a first Ctrl-C: asks for the pause once it can, and says when nothing runs any more.
  [[nodiscard]] bool pause_is_over();
  /// Says what a full disk has not taken.
  void print_unstored();
  [[nodiscard]] double wall_seconds() const;
  /// Adds this run's times to the record; they are worth having, not worth failing for.
  void keep_times();

  RunSession& run_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  api::Experiment detail_;
  sentences::EventStory story_;
  KeptFiles kept_;
  std::uint64_t last_lsn_ = 0;
  std::set<std::string> notes_told_;  // Kinds.
  std::set<std::string> hints_told_;
  std::string storage_told_;  // Why the daemon takes less than everything.
  WaitingNote waiting_;
  bool failure_told_ = false;
  EngineTime engine_time_;
  bool pause_asked_ = false;
  bool paused_ = false;
  FullDiskWait full_disk_;
};

}  // namespace hpsearch::cli

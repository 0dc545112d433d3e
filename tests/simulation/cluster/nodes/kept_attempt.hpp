#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/workers/core/effects.hpp"
#include "simulation/cluster/nodes/training.hpp"

namespace hpsearch::simulation {

/// What of an attempt outlives its agent on a worker's machine: its files, and its shim with the program.
struct KeptAttempt {
  /// A line of the program, as its shim's journal has it; its position is its index + 1.
  struct Line {
    std::optional<workers::QuestionId> question;
    std::string text;
    bool answered = false;
    std::uint64_t measured = 0;  ///< So many values were up to here.
  };

  jobs::LaunchSpec spec;

  // Files.
  std::string spool;  ///< What is on the disk for good.
  std::vector<Line> journal;
  std::uint64_t dropped = 0;  ///< Lines before this position are gone.
  bool launched = false;      ///< A shim was started.
  bool ended = false;         ///< And has written how its program ended.
  bool by_signal = false;
  int code = 0;
  bool asked = false;  ///< An agent signalled it before.

  // Processes.
  bool kept = false;  ///< The shim is alive.
  std::unique_ptr<Training> training;
  bool children = false;  ///< The program is gone, something it started is not.
  bool terminated = false;
  engine::Instant leave_until;  ///< What outlives the terminated program may do so until then.
  bool killed = false;
  bool stuck = false;        ///< It survives SIGKILL, says its shim.
  engine::Instant began_at;  ///< The program did.
  engine::Instant said_at;   ///< It said or heard something then, or began.
  std::uint64_t questions = 0;
  std::uint64_t measured = 0;  ///< Values.
  std::optional<workers::QuestionId> open_question;
  engine::Units ahead_below{};
  std::string ahead_line;

  // Of the present agent.
  bool mine = false;            ///< It has started or found it.
  bool deleted = false;         ///< It wants it forgotten.
  bool own = false;             ///< Ended for reasons of its worker's own.
  std::uint64_t handed_in = 0;  ///< Lines before this position.
  bool stuck_told = false;
  bool end_told = false;
  std::optional<workers::WriteSpool> writing;

  [[nodiscard]] bool runs() const noexcept { return (training && training->alive()) || children; }
};

}  // namespace hpsearch::simulation

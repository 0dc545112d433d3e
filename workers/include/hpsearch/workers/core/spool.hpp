#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/jobs/launch/launch_spec.hpp"
#include "hpsearch/proto/encoding/spell.hpp"
#include "hpsearch/workers/core/effects.hpp"

namespace hpsearch::workers {

// The state of an attempt that outlives its agent, on the worker's disk: the lease, and with each write the
// machine's state and the new reports. A report is sent only after the write that contains it.

/// A checkpoint that the program reported and that is not published yet.
struct WantedCheckpoint {
  engine::Units step{};
  std::optional<QuestionId> question;
  friend bool operator==(const WantedCheckpoint&, const WantedCheckpoint&) = default;
};

void spell(auto& fields, proto::Is<WantedCheckpoint> auto& wanted) {
  fields("step", wanted.step);
  fields.maybe("question", wanted.question);
}

/// The state of an attempt's machine, without its reports.
struct SpooledState {
  bool exited = false;                     ///< The exit report exists.
  std::uint64_t position = 0;              ///< Position in the journal; earlier messages are done.
  std::uint64_t acked = 0;                 ///< The daemon has acknowledged reports up to this number.
  engine::Lsn last_decision;               ///< 0 = none.
  std::optional<engine::Directive> order;  ///< pause, stop or kill.
  bool may_finish = false;                 ///< Decision::may_finish of that order.
  engine::Units length{};                  ///< The length at which it must ask next.
  bool speaks_lines = false;               ///< It reports on stdout …
  bool speaks_socket = false;              ///< … or on its socket.
  std::optional<engine::Units> last_step;
  std::optional<engine::Units> length_reported;
  bool reported_checkpoint = false;
  bool reported_invalid = false;
  bool no_progress = false;    ///< It is being ended because it made no progress.
  std::string paused_because;  ///< Why `order` is its worker's own decision, or "".
  bool ended_here =
      false;  ///< Its worker ends it without a decision, for example because the worker was stopped.
  bool unkillable = false;       ///< It has exited, but some of its processes survive SIGKILL.
  std::uint64_t held_since = 0;  ///< When it began to hold the slots, in microseconds of its agent's clock …
  std::uint64_t held_until = 0;  ///< … and when it ceased to, after its exit.
  std::string lost_checkpoint;
  std::vector<QuestionId> asking;
  std::vector<QuestionId> saved;  ///< Their checkpoints are reported; they may lack their answers.
  std::vector<WantedCheckpoint> checkpoints;
  friend bool operator==(const SpooledState&, const SpooledState&) = default;
};

void spell(auto& fields, proto::Is<SpooledState> auto& state) {
  fields.maybe("exited", state.exited);
  fields("position", state.position);
  fields("acked", state.acked);
  fields("last_decision", state.last_decision);
  fields.maybe("order", state.order);
  fields.maybe("may_finish", state.may_finish);
  fields("length", state.length);
  fields.maybe("speaks_lines", state.speaks_lines);
  fields.maybe("speaks_socket", state.speaks_socket);
  fields.maybe("last_step", state.last_step);
  fields.maybe("length_reported", state.length_reported);
  fields.maybe("reported_checkpoint", state.reported_checkpoint);
  fields.maybe("reported_invalid", state.reported_invalid);
  fields.maybe("no_progress", state.no_progress);
  fields.maybe("paused_because", state.paused_because);
  fields.maybe("ended_here", state.ended_here);
  fields.maybe("unkillable", state.unkillable);
  fields.maybe("held_since", state.held_since);
  fields.maybe("held_until", state.held_until);
  fields.maybe("lost_checkpoint", state.lost_checkpoint);
  fields.maybe("asking", state.asking);
  fields.maybe("saved", state.saved);
  fields.maybe("checkpoints", state.checkpoints);
}

/// An attempt as read from its spool.
struct SpooledAttempt {
  jobs::LaunchSpec spec;
  SpooledState state;
  std::deque<engine::Report> reports;  ///< The report state.acked + 1 and those after it.
};

/// The first record of a spool, with everything. `first_seq` is the number of the first of `reports`.
[[nodiscard]] std::string spool_anew(const jobs::LaunchSpec& spec, const SpooledState& state,
                                     std::uint64_t first_seq, const std::vector<engine::Report>& reports);

/// A record to append: the current state, and the reports since the last record.
[[nodiscard]] std::string spool_more(const SpooledState& state, std::uint64_t first_seq,
                                     const std::vector<engine::Report>& reports);

/// Reads a spool. An incomplete last record was being written when the worker ended; none of its reports
/// was sent, and it is ignored. corrupt: a record before the last one is damaged, or records don't
/// continue each other; the sentence has the byte.
///
/// Cost: linear in `bytes`.
[[nodiscard]] engine::Result<SpooledAttempt> read_spool(std::string_view bytes);

}  // namespace hpsearch::workers

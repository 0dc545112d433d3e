#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::engine {

/// One run of a trial on one set of slots, and who may speak for it.
struct AttemptKey {
  ExperimentId experiment;
  TrialNumber trial;
  AttemptNumber attempt;
  LeaseId lease;

  /// As events list theirs (events.hpp). Always laid flat into the fields of the struct that has the key.
  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields("trial", self.trial);
    fields("attempt", self.attempt);
    fields("lease", self.lease);
  }
  friend auto operator<=>(const AttemptKey&, const AttemptKey&) = default;
};

/// What it is called within its trial where files are kept: "2"; "2.LEASE" when it was leased after the store
/// was restored (Numbering), for the lost part of the log may have had a second attempt too.
[[nodiscard]] std::string label_of(const AttemptKey& key);
/// Its attempt's number and lease; lease 0 when the label names none. nullopt: it is no label.
[[nodiscard]] std::optional<std::pair<AttemptNumber, LeaseId>> read_attempt_label(
    std::string_view label) noexcept;

/// Metric name (dotted path) → value, sorted by name. Values may be NaN or infinite.
using Metrics = std::vector<std::pair<std::string, double>>;

/// The program measured something after training `step` units in all.
struct MetricsReport {
  Units step{};
  Metrics metrics;
};

/// A complete checkpoint lies in the store's checkpoint storage.
struct CheckpointReport {
  Units step{};
  std::string path;  ///< Absolute directory, final place.
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

/// The program says its hyperparameters cannot work.
struct InvalidHparamsReport {
  std::string why;
};

/// The program has ended, nothing of it is left unless `unkillable`. Always the last report of an attempt.
struct ExitReport {
  enum class Cause : std::uint8_t {
    exited,           ///< By itself; `code` is its exit status.
    signaled,         ///< By a signal that the worker didn't send; `code` is its number.
    ended_by_agent,   ///< The worker ended it on an order.
    could_not_start,  ///< `message` says why: missing program, missing context directory, full disk.
    out_of_memory,    ///< It got no more memory, or the kernel ended it; `code` is its status or a signal.
    lost,             ///< Its end was not seen: the machine was restarted, say. Not the program's failure.
    no_progress,      ///< The worker ended it because it said nothing for ExperimentConfig::progress_timeout.
    checkpoint_gone,  ///< It never ran: the checkpoint to go on from is missing or damaged, and may be
                      ///< (in `spec`, `checkpoint_may_be_gone`). Not the program's failure.
  };
  Cause cause = Cause::exited;
  int code = 0;
  std::string message;   ///< One sentence for people, or "".
  std::string log_tail;  ///< The last lines of its output when it failed, at most 4 KiB.
  bool unkillable =
      false;  ///< Something of it survives SIGKILL: its slots are in use until its worker says otherwise.
};

/// Something about the way a program reports that its author should know. It changes nothing.
struct NoteReport {
  std::string about;  ///< One word per kind: people hear of each kind once.
  std::string text;   ///< One sentence, at most 1 KiB.
};

/// At its length the program reports again and again, without the searcher's metric, and waits to hear how it
/// goes on: the metric does not come.
struct UnmeasuredReport {
  Units step{};
};

/// A report of an attempt; its sequence number counts from 1 without gaps.
using Report = std::variant<MetricsReport, CheckpointReport, InvalidHparamsReport, ExitReport, NoteReport,
                            UnmeasuredReport>;

/// An attempt must do this at or before its length.
enum class Directive : std::uint8_t {
  train_on,  ///< To `length`.
  pause,     ///< Checkpoint, then exit; it will be continued.
  stop,      ///< Exit; nothing more is wanted.
  kill,      ///< End it at once, no checkpoint.
};
[[nodiscard]] std::string_view name_of(Directive directive) noexcept;
[[nodiscard]] std::optional<Directive> directive_named(std::string_view name) noexcept;

struct Decision {
  Lsn id;  ///< The number (Numbering) of the event that decided; later decisions have higher ids.
  Directive directive = Directive::train_on;
  Units length{};
  /// To pause or to stop: it is at its length, and no decision waits for it. It may finish its work.
  bool may_finish = false;
};

/// The workers of an attempt that has several, and which of them this is. Every one has as many slots of it.
struct Rendezvous {
  std::uint64_t rank = 0;  ///< The rank of this worker's part, from 0. Rank 0 reports for the attempt.
  std::vector<std::string> addresses;  ///< Addresses of all parts, by rank; empty: there is one part.
  std::uint64_t port = 0;              ///< For rank 0 to listen at, chosen when the slots were given.
  friend bool operator==(const Rendezvous&, const Rendezvous&) = default;
};

/// What the engine decides about one attempt, for one of its workers. What its program is, its experiment
/// says.
struct AttemptSpec {
  AttemptKey key;
  TrialId trial_id;
  std::vector<SlotIndex> slots;
  Value hparams;
  Units length{};  ///< Train until this absolute length.
  std::uint32_t trial_seed = 0;
  std::string latest_checkpoint;  ///< "" on a fresh start.
  Units latest_step{};            ///< Length that checkpoint stands for.
  bool checkpoint_may_be_gone =
      false;  ///< It is the trial's own: the trial can do without, from the one before or anew.
  /// Set when that checkpoint is of another experiment's trial: its weights count, not its length.
  std::optional<ExperimentId> warm_start_of;
  bool despite_leaked_processes =
      false;  ///< What survives in these slots, or ails them, is known, and no reason to wait.
  Rendezvous rendezvous;
};

}  // namespace hpsearch::engine

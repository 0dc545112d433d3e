#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/experiment/experiment_record.hpp"
#include "hpsearch/engine/space/names.hpp"
#include "hpsearch/proto/views/compared_results.hpp"

namespace hpsearch::views {

/// Something of a trial that has a name: in columns, in conditions and in orders.
struct TrialField {
  enum class Kind : std::uint8_t {
    trial,
    state,
    metric,     ///< Its best, wherever it measured that.
    result,     ///< What it measured at the length that is compared.
    last,       ///< The latest.
    nonfinite,  ///< What the latest was, if that is no finite number: "nan", "inf" or "-inf".
    at,         ///< Where `metric` was measured.
    length,
    reached,
    rung,     ///< The longest length of a rung that it reached, from 0.
    bracket,  ///< From 0.
    attempts,
    restarts,
    slot_seconds,
    created_at,
    started_at,
    reported_at,  ///< When `metric` was.
    ended_at,
    worker,   ///< Where it runs, or ran last.
    failure,  ///< First line of its last one.
    reason,   ///< Of its last change of state: "promoted", "waits_at_rung", …
    hparam,
  };
  Kind kind = Kind::trial;
  std::size_t leaf = 0;  ///< Of a hyperparameter: its place in the space.
  std::string name;      ///< In full: "hparams.optimizer.lr".

  [[nodiscard]] bool is_number(const engine::Space& space) const;  ///< Else it is one of some words.
  /// All values that a field that isn't a number can have; none: any text.
  [[nodiscard]] std::vector<engine::Value> words(const engine::Space& space) const;
};

/// One of these if the latest value of the metric is no finite number; else "".
[[nodiscard]] std::string_view nonfinite_of(const engine::TrialRecord& trial) noexcept;

/// The names of fields that every trial has, in order.
[[nodiscard]] const std::vector<std::string>& trial_field_names();

/// The names of conditions on trials: those of trial_field_names(), then the hyperparameters of the space.
[[nodiscard]] engine::Names trial_names(const engine::Space& space);
/// The field of one of these names, by its index.
[[nodiscard]] TrialField trial_field(const engine::Space& space, std::size_t name);
/// The field of that name, where `names` are those of the space (trial_names). bad_request: there is none;
/// the message names `option`, the name, and one that is near.
[[nodiscard]] engine::Result<TrialField> find_field(const engine::Space& space, const engine::Names& names,
                                                    std::string_view option, std::string_view name);

/// Reads fields of an experiment's trials. Of every trial the same moment, if nothing happens meanwhile; what
/// did happen to a trial is read by reading it again.
///
/// Threads: those of the engine. Cost: O(1) per read, and once O(attempts) for started_at and worker, once
/// O(trials) for results.
class TrialReader {
 public:
  /// `now` counts for what still runs. `length` is that of results; nothing: compared_length() chooses.
  explicit TrialReader(engine::Instant now, std::optional<engine::Units> length = std::nullopt)
      : now_(now), length_(length) {}

  /// As a number; NaN where the trial has none, and for infinite metrics. Of words: the place of the engine's
  /// own enumeration or of the categorical's vals. Of a rung: what it reached.
  [[nodiscard]] double number(const engine::ExperimentRecord& experiment, std::size_t trial,
                              const TrialField& field);
  /// As conditions compare it; null where the trial has none.
  [[nodiscard]] engine::Value value(const engine::ExperimentRecord& experiment, std::size_t trial,
                                    const TrialField& field);
  /// Results at the length, of the moment when they were first asked for, or refreshed.
  [[nodiscard]] const ComparedResults& results(const engine::ExperimentRecord& experiment);
  /// Other trials have results by now. The length stays.
  void refresh_results(const engine::ExperimentRecord& experiment);

 private:
  struct Start {
    engine::Instant at;
    std::uint32_t last_worker = 0;
  };
  /// What its attempts say of a trial.
  [[nodiscard]] Start start_of(const engine::ExperimentRecord& experiment, std::size_t trial);

  engine::Instant now_;
  std::optional<engine::Units> length_;
  std::optional<ComparedResults> results_;
  std::size_t spans_seen_ = 0;
  std::vector<Start> starts_;  // By trial.
};

/// The index of the longest of `lengths` (ascending) that is not above `reached`; NaN if all are.
[[nodiscard]] double rung_reached(const std::vector<engine::TrialTally::Rung>& lengths,
                                  double reached) noexcept;

}  // namespace hpsearch::views

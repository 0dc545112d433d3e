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

/// A named property of a trial, for columns, conditions and orders.
struct TrialField {
  enum class Kind : std::uint8_t {
    trial,
    state,
    metric,     ///< The best value, at any length.
    result,     ///< The value at the compared length.
    last,       ///< The latest value.
    nonfinite,  ///< The latest value if it isn't finite: "nan", "inf" or "-inf".
    at,         ///< The length of `metric`.
    length,
    reached,
    rung,     ///< The longest length of a rung that it reached, from 0.
    bracket,  ///< From 0.
    attempts,
    restarts,
    slot_seconds,
    created_at,
    started_at,
    reported_at,  ///< The time of `metric`.
    ended_at,
    worker,   ///< The worker on which it runs, or ran last.
    failure,  ///< First line of its last failure.
    reason,   ///< The reason of its last change of state: "promoted", "waits_at_rung", …
    starred,
    labels,  ///< A list of texts.
    note,
    hparam,
    reported,  ///< Another metric, at the step of `metric`.
  };
  Kind kind = Kind::trial;
  std::size_t leaf = 0;  ///< The index of a hyperparameter in the space.
  std::string name;      ///< The full name: "hparams.optimizer.lr", "metrics.accuracy".

  [[nodiscard]] bool is_number(const engine::Space& space) const;  ///< Otherwise its values are words.
  /// All values of a field that isn't a number; empty if it can be any text.
  [[nodiscard]] std::vector<engine::Value> words(const engine::Space& space) const;
};

/// One of these if the latest value of the metric isn't finite; else "".
[[nodiscard]] std::string_view nonfinite_of(const engine::TrialRecord& trial) noexcept;

/// The names of fields that every trial has, in order.
[[nodiscard]] const std::vector<std::string>& trial_field_names();

/// The names of conditions on trials: those of trial_field_names(), then the hyperparameters of the space.
[[nodiscard]] engine::Names trial_names(const engine::Space& space);
/// The field of one of these names, by its index.
[[nodiscard]] TrialField trial_field(const engine::Space& space, std::size_t name);
/// The field with that name, where `names` are trial_names() of the space. bad_request: there is none;
/// the message has `option`, the name, and a similar one.
[[nodiscard]] engine::Result<TrialField> find_field(const engine::Space& space, const engine::Names& names,
                                                    std::string_view option, std::string_view name);

/// Reads fields of an experiment's trials. All trials are from the same moment if no event comes between the
/// calls. A changed trial must be read again.
///
/// Threads: those of the engine. Cost: O(1) per read, and once O(attempts) for started_at and worker, once
/// O(trials) for results.
class TrialReader {
 public:
  /// `now` is the end of times that still run. `length` is that of results: default compared_length().
  explicit TrialReader(engine::Instant now, std::optional<engine::Units> length = std::nullopt)
      : now_(now), length_(length) {}

  /// As a number; NaN if the trial has none, and for infinite metrics. A word is the index in the engine's
  /// enumeration or in the categorical's vals. A rung is the longest one reached.
  [[nodiscard]] double number(const engine::ExperimentRecord& experiment, std::size_t trial,
                              const TrialField& field);
  /// The value for conditions; null if the trial has none.
  [[nodiscard]] engine::Value value(const engine::ExperimentRecord& experiment, std::size_t trial,
                                    const TrialField& field);
  /// Results at the length, from the moment of the first call, or of the last refresh.
  [[nodiscard]] const ComparedResults& results(const engine::ExperimentRecord& experiment);
  /// Reads the results of all trials again. The length stays.
  void refresh_results(const engine::ExperimentRecord& experiment);

 private:
  struct Start {
    engine::Instant at;
    std::uint32_t last_worker = 0;
  };
  /// The trial's start and worker, from its attempts.
  [[nodiscard]] Start start_of(const engine::ExperimentRecord& experiment, std::size_t trial);

  engine::Instant now_;
  std::optional<engine::Units> length_;
  std::optional<ComparedResults> results_;
  std::size_t spans_seen_ = 0;
  std::vector<Start> starts_;  // By trial.
};

/// The index of the longest of `lengths` (ascending) that isn't above `reached`; NaN if all are.
[[nodiscard]] double rung_reached(const std::vector<engine::TrialTally::Rung>& lengths,
                                  double reached) noexcept;

}  // namespace hpsearch::views

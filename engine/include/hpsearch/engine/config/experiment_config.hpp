#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/score.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::engine {

enum class AshaMode : std::uint8_t { aggressive, standard, conservative };
enum class OnDuplicate : std::uint8_t { allow, reject };

/// The workers that run the trials of an experiment.
enum class TrialWorkers : std::uint8_t {
  cluster,  ///< The workers that are connected.
  external  ///< Clients: they ask for trials, report, and say how each ended (AskTrials).
};

/// How configurations are chosen (`searcher.sampler`), however long their trials train.
enum class SamplerName : std::uint8_t { random, anneal, model, tpe };

/// `searcher.anneal`.
struct AnnealConfig {
  double avg_best_idx = 2;   ///< Above 0.
  double shrink_coef = 0.1;  ///< Above 0.

  friend bool operator==(const AnnealConfig&, const AnnealConfig&) = default;
};

/// `searcher.model`.
struct ModelConfig {
  std::uint64_t initial_results = 8;  ///< Before the model speaks, 2 to 1000.
  double explore = 0.05;              ///< This share of trials is not the model's, 0 to 1.
  double min_correlation = 0.7;       ///< Between the first rung and full length, 0 to 0.99.
  bool noisy = false;
  std::uint64_t size = 240;        ///< Results it remembers at once, 64 to 2000.
  std::uint64_t fit_size = 100;    ///< How many of them the model is fitted to, 32 to 500.
  std::uint64_t candidates = 150;  ///< Per proposal, 50 to 10000.

  friend bool operator==(const ModelConfig&, const ModelConfig&) = default;
};

/// `searcher.tpe`.
struct TpeConfig {
  std::uint64_t initial_results = 10;  ///< Before it chooses, 2 to 1000.
  double gamma = 0.25;                 ///< This share of the results is good, above 0 and below 1.
  std::uint64_t candidates = 64;       ///< Per sample, 1 to 10000.

  friend bool operator==(const TpeConfig&, const TpeConfig&) = default;
};

/// How a trial is compared with the others before its full length (`searcher.stopping.rule`).
enum class StoppingRule : std::uint8_t { none, median, percentile };

/// `searcher.stopping`: trials that end before their full length. Lengths are in the experiment's unit.
struct StoppingConfig {
  StoppingRule rule = StoppingRule::none;
  std::uint64_t percentile = 25;       ///< With that rule, the best so many percent go on: 1 to 99.
  std::uint64_t least_trials = 5;      ///< A trial is compared with so many others, or not at all.
  std::optional<std::uint64_t> after;  ///< No rule stops a trial before; nothing: a tenth of max_length.
  std::optional<std::uint64_t> every;  ///< From one comparison to the next; nothing: a tenth of max_length.
  std::optional<std::uint64_t> patience;  ///< A trial may train so long without getting better.
  double min_delta = 0;                   ///< Only by more than this did it get better; at least 0.

  /// The best so many percent go on; 0: trials are not compared.
  [[nodiscard]] std::uint64_t percent() const noexcept {
    return rule == StoppingRule::none ? 0 : rule == StoppingRule::median ? 50 : percentile;
  }
  [[nodiscard]] bool stops_trials() const noexcept { return rule != StoppingRule::none || patience; }

  friend bool operator==(const StoppingConfig&, const StoppingConfig&) = default;
};

/// Results of an earlier search (`searcher.prior`), for samplers that learn.
struct PriorResult {
  Value hparams;      ///< A configuration of the present space, complete.
  Units length{};     ///< From 1 to max_length.
  double metric = 0;  ///< Finite, in the user's sign.

  friend bool operator==(const PriorResult&, const PriorResult&) = default;
};

/// The `searcher` section. Which fields mean something depends on `name` (SearcherKind::fields).
struct SearcherConfig {
  std::string name;
  std::vector<std::string>
      fields;          ///< Those of its kind, so that to_value shows their defaults; others when set.
  std::string metric;  ///< Dotted path into what trials report.
  bool smaller_is_better = true;
  Units max_length{1};  ///< In the experiment's unit.
  std::uint64_t max_trials = 0;
  std::uint64_t max_concurrent_trials = 16;  ///< Exact; 0 = as many as there are slots.
  AshaMode mode = AshaMode::standard;
  double divisor = 4;  ///< Above 1.
  std::uint64_t max_rungs = 5;
  std::vector<std::uint64_t> bracket_rungs;  ///< Empty: from `mode`.
  std::uint64_t num_rungs = 0;               ///< async_halving only.
  bool stop_once = false;
  std::uint64_t repeats = 1;    ///< Trainings of each finalist, 1 to 1000; 1: there are none.
  std::uint64_t finalists = 3;  ///< At least 1.
  std::vector<Value> points_to_evaluate;
  Value::Map kind_fields = {};  ///< As written: fields that no other kind has. The kind reads them.
  OnDuplicate on_duplicate = OnDuplicate::allow;
  SamplerName sampler = SamplerName::random;
  AnnealConfig anneal = {};
  ModelConfig model = {};
  TpeConfig tpe = {};
  std::vector<PriorResult> prior = {};  ///< In the order in which they are heard.
  StoppingConfig stopping = {};
  bool stop_diverged = false;  ///< A trial ends when its metric is NaN or infinite.
  std::optional<std::uint64_t> source_trial_id;
  std::optional<std::string> source_checkpoint_uuid;

  [[nodiscard]] Goal goal() const noexcept { return smaller_is_better ? Goal::minimize : Goal::maximize; }
};

/// `resources`.
struct ResourcesConfig {
  std::uint64_t slots_per_trial = 1;  ///< 0 = runs beside the slots, on a worker's processors alone.
  std::optional<std::uint64_t> max_slots;
  double weight = 1;            ///< Above 0; share among experiments of one priority.
  std::uint64_t priority = 50;  ///< 1 … 99, 1 first.
  std::string resource_pool;    ///< The pool of workers that may run it; "" = the default one.
  std::map<std::string, std::string> labels = {};  ///< That such a worker must have, each with this value.
  /// A trial may get its slots on several workers when no single one has enough: its program can be one of
  /// several processes that find each other.
  bool spans_workers = false;
  std::uint64_t least_workers =
      2;                  ///< On how many workers it runs at least when it runs on several; 2 or more.
  bool external = false;  ///< Its trials are run by clients alone. From ExperimentConfig::workers.
  /// What a trial, or its next checkpoint, takes, while nothing was measured.
  std::optional<Duration> time_request = {};
};

/// `budget`: whatever is spent first ends the search, gracefully: as completed, or as failed
/// if every trial has failed.
struct BudgetConfig {
  std::optional<Duration> max_time;      ///< Wall time since the first trial got its slots, pauses included.
  std::optional<double> max_slot_hours;  ///< Slots × hours under lease, over all trials.
  std::optional<double> target;          ///< A metric this good is good enough.
  std::optional<std::uint64_t> max_failed_trials;  ///< The search ends when so many trials have failed.
};

/// How many checkpoints outlive the search.
struct CheckpointRetention {
  std::uint64_t save_experiment_best = 0;
  std::uint64_t save_trial_best = 1;
  std::uint64_t save_trial_latest = 1;
};

/// The properties of the program for the scheduler and the searchers (`program_traits`).
struct ProgramTraits {
  bool begins_anew = false;  ///< After a pause it trains from nothing: it saves no checkpoint.
  bool validates_on_demand =
      false;  ///< It reports at every length it is given, whatever min_validation_period says.
};

/// An experiment as the engine understands it: every field decided, every default filled in. What the engine
/// does not decide by, how a program is started above all, stays as it was written (`program`).
struct ExperimentConfig {
  std::string name;
  std::string description;
  std::vector<std::string> labels;
  std::string workspace;
  std::string project;
  Value hyperparameters;           ///< As written (effective spelling).
  std::vector<std::string> where;  ///< Conditions on them, as written.
  Space space;
  SearcherConfig searcher;
  std::string unit = "batches";  ///< "batches", "records", "epochs" or the user's own word.
  std::optional<std::uint64_t> records_per_epoch;
  std::optional<Units> min_validation_period;
  std::optional<Units> min_checkpoint_period;
  std::uint64_t max_restarts = 5;
  /// The search pauses itself when its first trials, this many, all failed in the same way. 0: never.
  std::uint64_t pause_on_failures = 3;
  /// How long a worker may be silent before its attempts run elsewhere. Nothing: the longer an attempt's last
  /// checkpoint lies back, the longer (lease_patience).
  std::optional<Duration> lost_after;
  /// How long a running program may say nothing (no metrics, no checkpoint, no progress) before its worker
  /// ends it as failed. Nothing: for ever. While it waits for an answer its time stands still.
  std::optional<Duration> progress_timeout;
  TrialWorkers workers = TrialWorkers::cluster;
  ResourcesConfig resources;
  BudgetConfig budget;
  CheckpointRetention retention;  ///< In `checkpoint_storage`.
  ProgramTraits program_traits;
  std::uint64_t experiment_seed = 0;  ///< 0 … 2^31-1
  Value::Map program;                 ///< All fields that the engine does not read, verbatim.
};

/// The result of reading a config. `config` is set exactly when `problems` is empty.
struct ParsedConfig {
  std::optional<ExperimentConfig> config;
  Problems problems;           ///< All of them, in order of the text's keys.
  Problems notes;              ///< Accepted, but worth telling: odd spellings, fields without effect here.
  bool seed_is_given = false;  ///< By the text: else the config's seed is the one passed to the reader.
};

/// Reads an experiment from a tree. `fallback_name` names it when the text does not (the file's stem);
/// `seed` is recorded when the text gives none. `registry` says which searchers there are.
/// Pure; all problems at once. Unknown keys in a section that is the engine's own are problems, which name
/// the nearest known key; other keys are the program's (ExperimentConfig::program).
[[nodiscard]] ParsedConfig parse_config(const Value& tree, SearcherRegistry registry,
                                        std::string_view fallback_name, std::uint64_t seed);

/// The effective experiment as a tree, every default visible, seed included. Parsing it gives the same
/// config.
[[nodiscard]] Value to_value(const ExperimentConfig& config);

/// The seed of one trial's program, 0 … 2^31-1: a function of the experiment's seed and the trial's number.
[[nodiscard]] std::uint32_t trial_seed(std::uint64_t experiment_seed, TrialNumber trial) noexcept;

}  // namespace hpsearch::engine

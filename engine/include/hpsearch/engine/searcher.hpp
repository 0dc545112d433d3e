#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/score.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::engine {

struct ExperimentConfig;
struct Learnt;  // learnt.hpp

/// The result that a model expected of a configuration when it chose it.
struct ExpectedResult {
  double mean = 0;                       ///< At full length: the metric, in its own unit and sign.
  double deviation = 0;                  ///< Standard deviation of that, in the metric's unit.
  double log_improvement = 0;            ///< ln of the expected improvement, in deviations of all results.
  std::optional<double> correlation{};   ///< Learned, of metrics at the trial's first rung with those at full
                                         ///< length; none where every trial begins at full length.
  std::vector<std::uint64_t> nearest{};  ///< Earlier trials with the most similar configurations.

  static void list_fields(auto& fields, auto& self) {
    fields("mean", self.mean);
    fields("deviation", self.deviation);
    fields("log_improvement", self.log_improvement);
    fields.maybe("correlation", self.correlation);
    fields.maybe("nearest", self.nearest);
  }
  friend bool operator==(const ExpectedResult&, const ExpectedResult&) = default;
};

/// Why something was decided, in numbers that recompute from the log. Fields without a meaning stay empty.
/// sentences::describe() turns it into text.
struct Reason {
  enum class Why : std::uint8_t {
    new_trial,          ///< The search wants one more trial.
    replacement,        ///< In place of a trial whose hyperparameters were invalid.
    given_point,        ///< One of points_to_evaluate.
    near_trial,         ///< Drawn near an earlier trial with a good result: `near`.
    before_model,       ///< From an even sequence or drawn: the model has too few results.
    explored,           ///< Likewise, so that a model's mistakes cannot last.
    model_choice,       ///< A model of earlier results expects most of it: `expected`, or `detail` says what.
    repeat,             ///< A finalist is trained again: trial `near`; `detail` says which training it is.
    promoted,           ///< Rank below keep: among the best of its rung.
    waits_at_rung,      ///< Not (yet) among the best of its rung; stays a candidate.
    below_cutoff,       ///< Stopping type: position not below keep.
    rung_closed,        ///< Nothing below can promote it any more.
    worse_than_others,  ///< A rule (searcher.stopping) compared it with the others at `at`; `detail`: the
                        ///< best so many percent go on.
    no_improvement,     ///< Its metric, `value`, got no better for `detail` more units than `at`.
    max_length,         ///< Trained as far as a trial can go.
    early_exit,         ///< The program ended before its length; `detail` says how.
    user,               ///< Somebody asked; `detail` says for what.
    paused_itself,      ///< The experiment paused itself; a user resumes it.
    experiment_end,     ///< The experiment ended around it.
  };

  Why why = Why::new_trial;
  std::optional<std::uint32_t> bracket;  ///< From 0, most rungs first.
  std::optional<std::uint32_t> rung;     ///< From 0, shortest first.
  std::optional<std::uint64_t> rank;     ///< Position among the rung's results, from 0 = best.
  std::optional<std::uint64_t> size;     ///< Results in the rung, this one included.
  std::optional<std::uint64_t> keep;     ///< How many of them go on: rank must be below it.
  std::optional<double> cutoff;          ///< Metric of the last one that goes on, in the user's sign.
  std::string detail;

  // For a configuration that was chosen by earlier results.
  std::optional<std::uint64_t> near = {};       ///< The trial that it was drawn near.
  std::optional<std::uint64_t> near_rank = {};  ///< The rank of its latest result then, from 0 = best.
  std::optional<std::uint64_t> results = {};    ///< So many trials had results then.
  std::optional<double> spread = {};            ///< How far around it was drawn, as part of each range.
  std::optional<ExpectedResult> expected = {};  ///< The result that its model expected.

  std::optional<Units> at = {};  ///< The length of that rung.

  std::optional<double> value = {};  ///< The trial's own metric that was compared, in the user's sign.

  static void list_fields(auto& fields, auto& self) {  // As events list theirs (events.hpp).
    fields("why", self.why);
    fields.maybe("bracket", self.bracket);
    fields.maybe("rung", self.rung);
    fields.maybe("rank", self.rank);
    fields.maybe("size", self.size);
    fields.maybe("keep", self.keep);
    fields.maybe("cutoff", self.cutoff);
    fields.maybe("detail", self.detail);
    fields.maybe("near", self.near);
    fields.maybe("near_rank", self.near_rank);
    fields.maybe("results", self.results);
    fields.maybe("spread", self.spread);
    fields.maybe("expected", self.expected);
    fields.maybe("at", self.at);
    fields.maybe("value", self.value);
  }
  friend bool operator==(const Reason&, const Reason&) = default;
};

/// The Why's name in JSON and logs: "promoted", "waits_at_rung", …
[[nodiscard]] std::string_view name_of(Reason::Why why) noexcept;
[[nodiscard]] std::optional<Reason::Why> why_named(std::string_view name) noexcept;

// --- what a searcher answers ---

/// Start trial `trial` (always the next unused number) with these hyperparameters.
struct CreateTrial {
  TrialNumber trial;
  Value hparams;
  Units length{};
  Reason reason;
};
/// Let a trial that waits at a rung train on to an absolute length.
struct PromoteTrial {
  TrialNumber trial;
  Units length{};
  Reason reason;
};
/// Nothing now; ask again after the next event.
struct NothingNow {};
/// Nothing ever again. `problem` is set when the search could not do what was asked (for example too many
/// invalid configurations): the experiment then fails with that sentence.
struct Finished {
  std::optional<std::string> problem;
  std::string note;  ///< Something worth telling about a normal end ("the space is exhausted"), or "".
};
using Next = std::variant<CreateTrial, PromoteTrial, NothingNow, Finished>;

struct Verdict {
  enum class Action : std::uint8_t {
    train_on,  ///< Go on to `length`, keeping slot and process.
    pause,     ///< Give the slot back; the trial stays a candidate.
    stop,      ///< Nothing more is wanted of this trial.
  };
  Action action = Action::stop;
  Units length{};  ///< Only for train_on.
  Reason reason;
};

/// The possible future of a paused trial, as of now.
struct Outlook {
  /// It may be promoted, and so many other pieces of work come from next() before it. Nothing: it may not.
  std::optional<std::uint64_t> ahead;
  /// No more results than this can still come to its rung, unless more trials are wanted than now, one that
  /// waits is ended, or one turns out to be invalid.
  std::uint64_t results_to_come = 0;
  /// No other configuration is left to be tried, whatever max_trials says.
  bool exhausted = false;
};

/// A configuration that is trained several times (searcher.repeats), and what came of it so far.
struct Finalist {
  struct Training {
    TrialNumber trial;
    std::optional<double> metric;  ///< At full length; nothing: not known yet, or the trial failed.
  };
  std::vector<Training> trainings;  ///< By trial number; at least one.
  std::optional<double> mean;       ///< The mean of the metrics there are.
  std::optional<double> deviation;  ///< Their sample standard deviation; nothing for fewer than two.

  /// The best training; the first of equals. Nothing: none has a metric.
  [[nodiscard]] const Training* best(Goal goal) const noexcept;
};

/// A result in a rung.
struct RungResult {
  enum class Standing : std::uint8_t {
    waiting,   ///< May be promoted.
    dead,      ///< Its trial has ended early.
    promoted,  ///< Went on.
    settled,   ///< Never will.
  };
  TrialNumber trial;
  std::optional<double> metric;  ///< In the user's sign; nothing: none, or it is not finite.
  Standing standing = Standing::waiting;
};

/// A level of successive halving.
struct RungStanding {
  Units length{};
  std::uint64_t keep = 0;             ///< So many of its results go on.
  std::optional<double> cutoff;       ///< Metric of the last one that goes on, in the user's sign.
  std::vector<RungResult> results;    ///< Best first.
  std::vector<TrialNumber> training;  ///< Towards it, or waiting for a slot to do so; ascending.
};

/// A bracket of successive halving.
struct BracketStanding {
  bool stops_at_once = false;       ///< A trial goes on at its report or never.
  double divisor = 4;               ///< About one in so many goes on.
  std::vector<RungStanding> rungs;  ///< Shortest first.
};

// --- the events of a searcher ---

enum class ExitReason : std::uint8_t { errored, user_canceled, user_stopped, invalid_hp };

[[nodiscard]] std::string_view name_of(ExitReason reason) noexcept;
[[nodiscard]] std::optional<ExitReason> exit_reason_named(std::string_view name) noexcept;

struct TrialWasCreated {
  TrialNumber trial;
  Value hparams;
  Units length{};
};
struct TrialWasPromoted {  ///< By next() or, in place, by verdict().
  TrialNumber trial;
  Units length{};
};
struct TrialReported {  ///< An intermediate value, before the asked length.
  TrialNumber trial;
  Units step{};
  Score score;
};
struct TrialValidated {  ///< The trial reached `length`, the one it was last asked for.
  TrialNumber trial;
  Units length{};
  Score score;
};
struct TrialExited {  ///< Early; nothing more will come of it.
  TrialNumber trial;
  ExitReason reason{};
};
struct TrialWasClosed {  ///< After `stop`, or because closable() named it.
  TrialNumber trial;
};
struct TrialWasRetried {  ///< It exited as errored, and trains to the same length once more. Only where
                          ///< obstacle_to_retry() names none.
  TrialNumber trial;
  Value hparams;
  Units length{};
};
struct MaxTrialsChanged {  ///< A user wants so many trials in all, from now on; those that exist stay. A
                           ///< search that is over continues if these are more.
  std::uint64_t max_trials = 0;
};
struct MaxConcurrentTrialsChanged {  ///< So many slots are to be shared from now on; 0 = no fixed number.
  std::uint64_t max_concurrent_trials = 0;
};
struct PointsChanged {  ///< These come next, in this order, instead of given points that were not started
                        ///< yet.
  std::vector<Value> points;
};
struct DuplicatesChanged {
  bool reject = false;         ///< From now on no configuration starts that was started before.
  std::vector<Value> started;  ///< With `reject`: all configurations so far, by trial number.
};
using SearchEvent = std::variant<TrialWasCreated, TrialWasPromoted, TrialReported, TrialValidated,
                                 TrialExited, TrialWasClosed, MaxTrialsChanged, MaxConcurrentTrialsChanged,
                                 PointsChanged, DuplicatesChanged, TrialWasRetried>;

/// A search strategy: decides what to do next from what happened. It sees neither workers nor clocks nor
/// processes. It *looks* when asked and *changes* only in on_event(), when it hears what was decided; a
/// replay of the log calls that alone.
///
/// How the engine drives it: after TrialValidated it asks verdict() for that trial and tells what it decided
/// (TrialWasPromoted for train_on, TrialWasClosed for stop; a pause has no event). After TrialReported it
/// asks early_stop(), and tells TrialWasClosed if that gives a reason. Then it closes what closable() names,
/// then asks next() once per free slot, telling each answer before asking again. Where closable() names very
/// many, it closes some of them then and the others little by little; trials may be created, promoted and
/// validated meanwhile, but all are closed before a trial exits early or, once limits have changed, anything
/// is reported.
///
/// Owns:    its own memory only.
/// Threads: one at a time; no locks, no waiting, no I/O, no clock.
/// Chance:  only draws that are a function of (seed, trial number, parameter).
/// Cost:    O(log trials) per call, unless the strategy's page says otherwise.
class Searcher {
 public:
  Searcher() = default;
  Searcher(const Searcher&) = delete;
  Searcher& operator=(const Searcher&) = delete;
  virtual ~Searcher() = default;

  [[nodiscard]] virtual Next next() const = 0;

  /// For a trial whose TrialValidated was the last thing heard of it.
  [[nodiscard]] virtual Verdict verdict(TrialNumber trial) const = 0;

  /// For a trial whose TrialReported was the last thing heard of it: why it stops before its length. Nothing:
  /// it trains on, as always in a search without such rules.
  [[nodiscard]] virtual std::optional<Reason> early_stop(TrialNumber /*trial*/) const { return {}; }

  virtual void on_event(const SearchEvent& event) = 0;

  /// Paused trials that need nothing more and have not been reported as closed yet, in ascending order.
  [[nodiscard]] virtual std::span<const TrialNumber> closable() const = 0;

  /// Why a trial that closable() names is closed, or a paused one waits.
  [[nodiscard]] virtual Reason standing(TrialNumber trial) const = 0;

  /// For a paused trial. Only for people: it may cost O(trials). A searcher that never pauses adds nothing.
  [[nodiscard]] virtual Outlook outlook(TrialNumber /*trial*/) const { return {}; }

  /// What its model has learnt so far; nothing if it has no model. Only for people: it may cost as much as a
  /// new trial's configuration. It changes no later answer.
  [[nodiscard]] virtual std::optional<Learnt> learnt() const;

  /// Why the exit of this trial, which exited as errored, can no longer be taken back, as the end of a
  /// sentence;
  /// "" if it can. A trial that is taken back counts as if it had not exited.
  [[nodiscard]] virtual std::string obstacle_to_retry(TrialNumber /*trial*/) const {
    return "its searcher takes no failure back";
  }

  /// Once a search repeats its best configurations, these: best mean first. O(finalists · log trials).
  [[nodiscard]] virtual std::vector<Finalist> finalists() const { return {}; }

  /// Where all trials stand, by bracket; nothing from a search that compares no trials before their full
  /// length. Only for people. O(results).
  [[nodiscard]] virtual std::vector<BracketStanding> brackets() const { return {}; }
  /// The bracket that the trial belongs to, from 0; nothing: it belongs to none, or there is only one.
  [[nodiscard]] virtual std::optional<std::uint32_t> bracket_of(TrialNumber /*trial*/) const { return {}; }

  /// Fraction of the planned search that is over, in [0, 1]; 1 exactly at the end. It never decreases, except
  /// when a search that is over gets more trials.
  [[nodiscard]] virtual double progress() const noexcept = 0;
};

/// One bracket in the output of `hpsearch preview`.
struct BracketPreview {
  std::vector<Units> lengths;  ///< The lengths of its rungs, ascending.
  Cardinality trials = 0;
  std::uint64_t share = 0;         ///< Its share of max_concurrent_trials; 0 = no fixed share.
  std::vector<Cardinality> reach;  ///< Trials expected to train to each length, results in random order.
};

/// A sum of a preview that is this or more, 2^128 - 1, which only a grid can come to: larger than can be
/// counted.
inline constexpr Cardinality past_counting = ~Cardinality{0};

/// A search before any GPU time is spent; final counts and lengths are those of equal metrics.
struct Preview {
  Cardinality trials = 0;
  Cardinality repeats = 0;  ///< More trials at the end, at most: the finalists' (searcher.repeats).
  std::vector<BracketPreview> brackets;
  std::map<Units, Cardinality> final_counts;  ///< Final length → trials.
  Cardinality total_length = 0;               ///< Σ trained units over all trials; may be past_counting.
  Cardinality expected_length = 0;    ///< The same as expected of results in random order: by `reach`.
  Cardinality full_length = 0;        ///< The same if every trial trained to the maximum length.
  std::vector<std::string> warnings;  ///< Something is likely wrong.
  std::vector<std::string> advice;    ///< Something else measured better.
};

/// One kind of searcher: its name in the experiment file, the fields it reads, and how to make one.
struct SearcherKind {
  std::string_view name;                       ///< searcher.name
  std::span<const std::string_view> fields;    ///< Keys under `searcher` it reads beyond the common ones.
  std::span<const std::string_view> required;  ///< Those of `fields` it cannot do without.

  /// What only this searcher knows to be wrong with a config whose fields are well-formed each by itself; or
  /// nullptr.
  void (*check)(const ExperimentConfig& config, Problems& problems);

  /// A fresh searcher; the config was checked. The config is copied where needed, not kept.
  std::unique_ptr<Searcher> (*make)(const ExperimentConfig& config);

  Preview (*preview)(const ExperimentConfig& config);
};

/// All kinds this build knows, ordered by name. Lives as long as the program.
using SearcherRegistry = std::span<const SearcherKind>;

/// The kind of that name, or nullptr.
[[nodiscard]] const SearcherKind* find_kind(SearcherRegistry registry, std::string_view name) noexcept;

}  // namespace hpsearch::engine

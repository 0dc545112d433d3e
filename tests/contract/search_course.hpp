#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "contract/answers.hpp"
#include "contract/fault_plan.hpp"
#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::contract {

/// Recomputes the numbers of reasons from what the searcher was told, by rules of its own. A fixture may
/// bring one along.
class Judge {
 public:
  Judge() = default;
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;
  virtual ~Judge() = default;

  /// `bracket` is that of the trial, as the reason of its creation named it.
  virtual void on_event(const engine::SearchEvent& event, std::uint64_t bracket) = 0;
  /// Complains unless the reason's numbers are those that hold now.
  virtual void expect(engine::TrialNumber trial, const engine::Reason& reason) const = 0;
};

/// One search from its first trial to its last, driven as the engine drives it, in an order of events and
/// with mishaps that are a function of the seed. Complains about every broken promise it sees on the way.
class Course {
 public:
  enum class State : std::uint8_t { running, paused, ended };
  struct Result {
    engine::Score score = engine::Score::worst();
    std::uint64_t bracket = 0;
    std::uint64_t rung = 0;
  };
  struct Trial {
    State state = State::running;
    bool invalid = false;
    engine::Value hparams;
    engine::Units length{};
    engine::Units final_length{};  ///< What it has trained to.
    std::uint64_t bracket = 0;
    std::optional<engine::Score> latest;
    std::vector<Result> results;
    std::uint64_t pace = 1;
    std::uint64_t done_at = 0;  ///< When it reaches its length, in ticks.
  };
  /// Something the searcher was told, and what it answers right after to whoever asks.
  struct Heard {
    engine::SearchEvent event;
    std::string next;
    std::string verdict;  ///< Only after a TrialValidated.
    std::vector<engine::TrialNumber> closable;
    std::optional<engine::TrialNumber> waiting;  ///< One that waits, another each time, and
    std::string standing;                        ///< what is said of it.
    double progress = 0;

    /// The searcher, which has heard the same, answers the same.
    void expect_of(const engine::Searcher& searcher) const {
      EXPECT_EQ(text_of(searcher.next()), next);
      if (const auto* validated = std::get_if<engine::TrialValidated>(&event)) {
        EXPECT_EQ(text_of(searcher.verdict(validated->trial)), verdict);
      }
      const std::span<const engine::TrialNumber> named = searcher.closable();
      EXPECT_EQ(std::vector<engine::TrialNumber>(named.begin(), named.end()), closable);
      if (waiting) {
        EXPECT_EQ(text_of_waiting(searcher, *waiting), standing);
      }
      EXPECT_EQ(searcher.progress(), progress);
    }
  };

  Course(engine::SearcherKind kind, bool replaces_invalid, engine::ExperimentConfig config, FaultPlan faults,
         std::uint64_t seed)
      : kind_(kind),
        replaces_invalid_(replaces_invalid),
        config_(std::move(config)),
        now_wanted_(config_),
        faults_(faults),
        chance_(seed, engine::TrialNumber(1), "course"),
        replaceable_(config_.searcher.max_trials),
        searcher_(kind_.make(config_)) {
    if (rejects()) {
      supply_ = config_.space.cardinality();
    }
    plan();
    most_slots_ = config_.searcher.max_concurrent_trials;
    if (most_slots_ == 0) {
      most_slots_ = 1 + chance_.below(12);
    }
    slots_ = most_slots_;
  }

  /// Called after every event and the answers to it; may replace the searcher by an equal one.
  std::function<void(Course&)> after_each;
  std::unique_ptr<Judge> judge;
  bool keeps_log = true;
  /// Somebody has complained.
  std::function<bool()> stops = [] { return ::testing::Test::HasFailure(); };
  std::vector<Heard> log;

  [[nodiscard]] engine::Searcher& searcher() noexcept { return *searcher_; }
  void replace(std::unique_ptr<engine::Searcher> searcher) noexcept { searcher_ = std::move(searcher); }
  [[nodiscard]] const engine::SearcherKind& kind() const noexcept { return kind_; }
  [[nodiscard]] const engine::ExperimentConfig& config() const noexcept { return config_; }
  [[nodiscard]] const std::vector<Trial>& trials() const noexcept { return trials_; }
  [[nodiscard]] const engine::Finished& end() const noexcept { return end_; }
  [[nodiscard]] engine::Cardinality planned() const noexcept { return planned_; }
  [[nodiscard]] engine::Draw& chance() noexcept { return chance_; }

  /// As many trials as were asked for; more only where somebody asked for more before.
  void expect_all_trials() const {
    if (was_lowered_) {
      EXPECT_GE(counting(), static_cast<std::uint64_t>(planned_)) << "fewer trials than were asked for";
    } else {
      EXPECT_EQ(counting(), static_cast<std::uint64_t>(planned_))
          << "fewer trials than were asked for, and not a word about it";
    }
  }

  [[nodiscard]] std::uint64_t counting() const noexcept { return trials_.size() - not_counting_; }
  [[nodiscard]] std::map<engine::Units, std::uint64_t> final_counts() const {
    std::map<engine::Units, std::uint64_t> counts;
    for (const Trial& trial : trials_) {
      ++counts[trial.final_length];
    }
    return counts;
  }

  /// What became of every trial, in one text.
  [[nodiscard]] std::string fates() const {
    std::string text;
    for (const Trial& trial : trials_) {
      text += std::to_string(engine::count(trial.final_length)) + (trial.invalid ? " invalid " : " ") +
              engine::compact_json(trial.hparams) + '\n';
    }
    return text;
  }

  /// To the end, or until somebody complained.
  void run() {
    expect_fresh();
    // Every turn of a trial is a report, an exit or a step up; a search that needs more turns than this does
    // not end.
    std::uint64_t turns_left =
        2000 + 400 * static_cast<std::uint64_t>(planned_) * (faults_.limit_changes + 1);
    while (!stops()) {
      fill_slots();
      if (finished_) {
        break;
      }
      ASSERT_GT(turns_left--, 0U) << "the search does not end";
      if (running_.empty()) {
        ASSERT_FALSE(searcher_->closable().empty())
            << "nothing runs, nothing is wanted, and the search is not finished";
        close_all();
        continue;
      }
      close_some();
      if (happens(faults_.cancel_waiting)) {
        cancel_one_that_waits();
      } else {
        give_turn(whose_turn());
      }
      close_some();
      if (happens(faults_.capacity_changes)) {
        slots_ = chance_.below(most_slots_ + 1);
      }
      change_what_is_wanted();
    }
  }

 private:
  void expect_fresh() {
    EXPECT_EQ(kind_.preview(config_).trials, planned_) << "the preview plans another number of trials";
    EXPECT_EQ(searcher_->progress(), 0.0);
    EXPECT_TRUE(searcher_->closable().empty());
  }

  [[nodiscard]] bool happens(std::uint64_t percent) { return percent > 0 && chance_.below(100) < percent; }

  engine::TrialNumber whose_turn() {
    if (faults_.paces == 0) {
      return running_[static_cast<std::size_t>(chance_.below(running_.size()))];
    }
    const engine::TrialNumber first =
        *std::min_element(running_.begin(), running_.end(), [this](const auto& a, const auto& b) {
          return std::pair(at(a).done_at, a) < std::pair(at(b).done_at, b);
        });
    now_ = at(first).done_at;
    return first;
  }

  [[nodiscard]] bool reads(std::string_view field) const {
    return std::find(kind_.fields.begin(), kind_.fields.end(), field) != kind_.fields.end();
  }
  [[nodiscard]] bool rejects() const {
    return now_wanted_.searcher.on_duplicate == engine::OnDuplicate::reject;
  }

  /// max_trials, or what there is if that is less. Only a kind that reads no max_trials is believed.
  void plan() {
    planned_ = reads("max_trials") ? std::min(engine::Cardinality{now_wanted_.searcher.max_trials},
                                              supply_.value_or(now_wanted_.searcher.max_trials))
                                   : kind_.preview(config_).trials;
  }

  void change_what_is_wanted() {
    change("max_trials", faults_.limit_changes, [this] { change_max_trials(); });
    change("max_concurrent_trials", faults_.concurrency_changes, [this] { change_max_concurrent_trials(); });
    change("points_to_evaluate", faults_.point_changes, [this] { change_points(); });
    change("on_duplicate", faults_.duplicate_changes, [this] { change_duplicates(); });
  }

  /// All that is named is closed before; a search that is over stays over.
  template <class Change>
  void change(std::string_view field, std::uint64_t percent, Change change) {
    if (!happens(percent) || !reads(field)) {
      return;
    }
    close_all();
    if (!std::holds_alternative<engine::Finished>(searcher_->next())) {
      change();
      close_some();
    }
  }

  /// As the engine does: what would be wrong in an experiment file changes nothing.
  bool takes(const engine::ExperimentConfig& wanted) {
    engine::Problems problems;
    if (kind_.check != nullptr) {
      kind_.check(wanted, problems);
    }
    if (problems.empty()) {
      now_wanted_ = wanted;
    }
    return problems.empty();
  }

  /// Trials that exist stay, and as many as there are now may be replaced.
  void change_max_trials() {
    const std::uint64_t before = now_wanted_.searcher.max_trials;
    engine::ExperimentConfig wanted = now_wanted_;
    wanted.searcher.max_trials = std::max<std::uint64_t>(1, chance_.below(before + before / 2 + 2));
    if (takes(wanted)) {
      was_lowered_ = was_lowered_ || wanted.searcher.max_trials < before;
      plan();
      replaceable_ = std::max(wanted.searcher.max_trials, not_counting_);
      tell(engine::MaxTrialsChanged{wanted.searcher.max_trials});
    }
  }

  /// Trials that run stay. With no fixed number there are as many slots as there were.
  void change_max_concurrent_trials() {
    const std::uint64_t wanted = chance_.below(12);
    most_slots_ = wanted > 0 ? wanted : most_slots_;
    slots_ = most_slots_;
    tell(engine::MaxConcurrentTrialsChanged{wanted});
  }

  /// Some of them were started before, or are what a trial to come would have drawn.
  void change_points() {
    engine::ExperimentConfig wanted = now_wanted_;
    std::vector<engine::Value>& points = wanted.searcher.points_to_evaluate;
    points.clear();
    for (std::uint64_t i = chance_.below(4); i > 0; --i) {
      if (chance_.below(3) == 0 && !trials_.empty()) {
        points.push_back(trials_[static_cast<std::size_t>(chance_.below(trials_.size()))].hparams);
      } else {
        const engine::TrialNumber to_come(trials_.size() + chance_.below(8));
        points.push_back(config_.space.sample(config_.experiment_seed + chance_.below(2), to_come));
      }
    }
    if (takes(wanted)) {
      next_point_ = 0;
      pass_points_that_were_started();
      tell(engine::PointsChanged{points});
    }
  }

  void change_duplicates() {
    engine::ExperimentConfig wanted = now_wanted_;
    wanted.searcher.on_duplicate = rejects() ? engine::OnDuplicate::allow : engine::OnDuplicate::reject;
    if (!takes(wanted)) {
      return;
    }
    engine::DuplicatesChanged changed{rejects(), {}};
    for (const Trial& trial : trials_) {
      if (rejects()) {
        changed.started.push_back(trial.hparams);
      }
    }
    supply_ = rejects() ? config_.space.cardinality() : std::nullopt;
    if (supply_) {
      supply_ = *supply_ - started_.size() + counting();
    }
    plan();
    pass_points_that_were_started();
    tell(changed);
  }

  [[nodiscard]] std::vector<engine::TrialNumber> all_that_wait() const {
    std::vector<engine::TrialNumber> waiting;
    for (std::size_t number = 0; number < trials_.size(); ++number) {
      if (trials_[number].state == State::paused) {
        waiting.emplace_back(number);
      }
    }
    return waiting;
  }

  void cancel_one_that_waits() {
    close_all();
    const std::vector<engine::TrialNumber> waiting = all_that_wait();
    if (!waiting.empty()) {
      constexpr engine::ExitReason reasons[] = {engine::ExitReason::user_canceled,
                                                engine::ExitReason::user_stopped, engine::ExitReason::errored,
                                                engine::ExitReason::invalid_hp};
      exit(waiting[static_cast<std::size_t>(chance_.below(waiting.size()))], reasons[chance_.below(4)]);
    }
  }

  void fill_slots() {
    if (running_.empty() && slots_ == 0) {
      slots_ = 1;  // Capacity comes back some day.
    }
    while (running_.size() < slots_) {
      const engine::Next next = searcher_->next();
      if (const auto* create = std::get_if<engine::CreateTrial>(&next)) {
        ASSERT_NO_FATAL_FAILURE(expect_well_made(*create));
        Trial trial;
        trial.hparams = create->hparams;
        trial.length = create->length;
        trial.bracket = create->reason.bracket.value_or(0);
        trial.pace = 1 + chance_.below(std::max<std::uint64_t>(faults_.paces, 1));
        trial.done_at = now_ + engine::count(trial.length) * trial.pace;
        trials_.push_back(std::move(trial));
        running_.push_back(create->trial);
        tell(engine::TrialWasCreated{create->trial, create->hparams, create->length});
        EXPECT_LE(counting(), planned_) << "more trials than were asked for";
        EXPECT_LE(replacements_, replaceable_) << "more replacements than trials";
      } else if (const auto* promote = std::get_if<engine::PromoteTrial>(&next)) {
        ASSERT_LT(promote->trial.number(), trials_.size());
        ASSERT_EQ(at(promote->trial).state, State::paused) << "only a trial that waits can be promoted";
        expect_longer(promote->trial, promote->length);
        expect_sound(promote->trial, promote->reason, true);
        go_on(promote->trial, promote->length);
        running_.push_back(promote->trial);
      } else if (const auto* finished = std::get_if<engine::Finished>(&next)) {
        end_ = *finished;
        finished_ = finished->problem.has_value() || running_.empty();
        EXPECT_TRUE(finished_) << "finished while trials run";
        EXPECT_EQ(finished->problem.has_value(), replaces_invalid_ && not_counting_ > replaceable_)
            << "a search gives up when more than max_trials trials would have to be replaced, and not before";
        return;
      } else {
        EXPECT_TRUE(counting() >= planned_ || (rejects() && started_everything()))
            << "a slot stays free while trials are wanted";
        return;
      }
      if (stops()) {
        return;
      }
    }
  }

  /// Nobody can count a space with a real number in it: then whoever says so is believed.
  [[nodiscard]] bool started_everything() const {
    const std::optional<engine::Cardinality> all = config_.space.cardinality();
    return !all || started_.size() >= *all;
  }

  void expect_well_made(const engine::CreateTrial& create) {
    using Why = engine::Reason::Why;
    ASSERT_EQ(create.trial.number(), trials_.size()) << "trials are numbered without gaps";
    EXPECT_GT(engine::count(create.length), 0U);
    EXPECT_LE(create.length, config_.searcher.max_length);
    engine::Problems problems;
    config_.space.check(create.hparams, "hparams", problems);
    EXPECT_TRUE(problems.empty()) << engine::compact_json(create.hparams) << " is not in the space";
    const Why why = create.reason.why;
    EXPECT_TRUE(why == Why::new_trial || why == Why::replacement || why == Why::given_point)
        << engine::name_of(why);
    EXPECT_FALSE(create.reason.rank || create.reason.size || create.reason.keep || create.reason.cutoff)
        << "a trial that begins stands nowhere yet: " << text_of(create.reason);
    EXPECT_EQ(create.reason.rung.value_or(0), 0U) << "a trial begins at the lowest rung";
    const std::vector<engine::Value>& points = now_wanted_.searcher.points_to_evaluate;
    const bool given = next_point_ < points.size();
    EXPECT_EQ(why == Why::given_point, given);
    if (given) {
      EXPECT_EQ(create.hparams, points[next_point_++]);
    }
    // A bracket replaces its own.
    std::uint64_t& owed = owed_[create.reason.bracket.value_or(0)];
    if (!given) {
      EXPECT_EQ(why == Why::replacement, owed > 0)
          << "a replacement for nothing, or an invalid trial that has none";
    }
    if (owed > 0) {
      --owed;
      ++replacements_;
    }
    const bool is_new = started_.insert(engine::compact_json(create.hparams)).second;
    EXPECT_TRUE(is_new || !rejects()) << engine::compact_json(create.hparams) << " is started twice";
    pass_points_that_were_started();
  }

  /// Where none may start twice, the one behind takes its place.
  void pass_points_that_were_started() {
    const std::vector<engine::Value>& points = now_wanted_.searcher.points_to_evaluate;
    while (rejects() && next_point_ < points.size() &&
           started_.contains(engine::compact_json(points[next_point_]))) {
      ++next_point_;
    }
  }

  void give_turn(engine::TrialNumber number) {
    using engine::ExitReason;
    const std::uint64_t turn = chance_.below(100);
    std::uint64_t upto = faults_.errored;
    if (turn < upto) {
      return exit(number, ExitReason::errored);
    }
    if (turn < (upto += faults_.user_canceled)) {
      return exit(number, ExitReason::user_canceled);
    }
    if (turn < (upto += faults_.user_stopped)) {
      return exit(number, ExitReason::user_stopped);
    }
    if (turn < (upto += faults_.invalid_hp)) {
      return exit(number, ExitReason::invalid_hp);
    }
    const std::uint64_t from = engine::count(at(number).final_length);
    const std::uint64_t to = engine::count(at(number).length);
    if (turn < upto + faults_.intermediate && from + 1 < to) {
      const engine::Units step{from + 1 + chance_.below(to - from - 1)};
      at(number).final_length = step;
      tell(engine::TrialReported{number, step, drawn_score()});
      return;
    }
    validate(number);
  }

  engine::Score odd_score(std::uint64_t choice) {
    constexpr double odd[] = {std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity()};
    const engine::Goal goal = config_.searcher.goal();
    switch (faults_.oddity) {
      case FaultPlan::Oddity::mixed:
        return engine::Score::from_metric(odd[choice], goal);
      case FaultPlan::Oddity::nan:
        return engine::Score::from_metric(odd[0], goal);
      case FaultPlan::Oddity::absent:
        return engine::Score::from_metric(std::nullopt, goal);
      case FaultPlan::Oddity::awful:
        break;
    }
    return engine::Score::from_metric(goal == engine::Goal::minimize ? 1e300 : -1e300, goal);
  }

  engine::Score drawn_score() {
    const engine::Goal goal = config_.searcher.goal();
    if (chance_.below(100) < faults_.without_metric) {
      return odd_score(chance_.below(3));
    }
    const double metric =
        faults_.metrics == 0 ? chance_.unit() : static_cast<double>(chance_.below(faults_.metrics));
    return engine::Score::from_metric(metric, goal);
  }

  void validate(engine::TrialNumber number) {
    const engine::Score score = drawn_score();
    at(number).latest = score;
    at(number).final_length = at(number).length;
    const engine::TrialValidated event{number, at(number).length, score};
    on_event(event);
    const engine::Verdict verdict = searcher_->verdict(number);
    note(event, keeps_log ? text_of(verdict) : std::string());
    const std::span<const engine::TrialNumber> closable = searcher_->closable();
    EXPECT_FALSE(std::binary_search(closable.begin(), closable.end(), number))
        << "a trial that is not paused needs a verdict, not closing";
    using Action = engine::Verdict::Action;
    if (verdict.reason.rung) {
      at(number).results.push_back({score, at(number).bracket, *verdict.reason.rung});
    }
    expect_sound(number, verdict.reason, verdict.action == Action::train_on);
    using Why = engine::Reason::Why;
    const Why why = verdict.reason.why;
    EXPECT_EQ(why == Why::waits_at_rung, verdict.action == Action::pause) << text_of(verdict);
    EXPECT_EQ(why == Why::max_length, at(number).length == config_.searcher.max_length) << text_of(verdict);
    EXPECT_EQ(why == Why::max_length || why == Why::below_cutoff || why == Why::rung_closed,
              verdict.action == Action::stop)
        << text_of(verdict);
    switch (verdict.action) {
      case Action::train_on:
        expect_longer(number, verdict.length);
        go_on(number, verdict.length);
        break;
      case Action::pause:
        at(number).state = State::paused;
        leave_slot(number);
        break;
      case Action::stop:
        at(number).state = State::ended;
        leave_slot(number);
        tell(engine::TrialWasClosed{number});
        break;
    }
  }

  void expect_longer(engine::TrialNumber number, engine::Units length) {
    EXPECT_GT(length, at(number).length) << "a trial only ever trains further";
    EXPECT_LE(length, config_.searcher.max_length);
  }

  void go_on(engine::TrialNumber number, engine::Units length) {
    at(number).done_at = now_ + (engine::count(length) - engine::count(at(number).length)) * at(number).pace;
    at(number).length = length;
    at(number).state = State::running;
    tell(engine::TrialWasPromoted{number, length});
  }

  void exit(engine::TrialNumber number, engine::ExitReason reason) {
    close_all();
    if (at(number).state == State::running) {
      leave_slot(number);
    } else if (!at(number).results.empty()) {
      at(number).results.pop_back();  // The worst takes its place.
    }
    at(number).state = State::ended;
    if (reason == engine::ExitReason::invalid_hp) {
      at(number).invalid = true;
      at(number).results.clear();
    }
    if (at(number).invalid && replaces_invalid_) {
      ++not_counting_;
      ++owed_[at(number).bracket];
    }
    tell(engine::TrialExited{number, reason});
  }

  /// As the engine does, which ends only so many at a time: all that is named, or the first of them. The rest
  /// waits while trials report, begin and go on.
  void close_some() {
    const std::size_t named = searcher_->closable().size();
    close_first(named > 0 && happens(faults_.late_closing) ? chance_.below(named + 1) : named);
  }

  /// And all before anything that might change a rank for those that are named: before an exit, and before
  /// another limit.
  void close_all() { close_first(searcher_->closable().size()); }

  void close_first(std::uint64_t count) {
    const std::span<const engine::TrialNumber> named = searcher_->closable();
    const std::vector<engine::TrialNumber> closable(named.begin(), named.end());
    EXPECT_TRUE(std::is_sorted(closable.begin(), closable.end()));
    EXPECT_EQ(std::adjacent_find(closable.begin(), closable.end()), closable.end());
    const auto rest = closable.begin() + static_cast<std::ptrdiff_t>(count);
    for (auto closed = closable.begin(); closed != rest; ++closed) {
      const engine::TrialNumber number = *closed;
      ASSERT_LT(number.number(), trials_.size());
      EXPECT_EQ(at(number).state, State::paused) << "only a trial that waits is closable";
      const engine::Reason standing = searcher_->standing(number);
      expect_sound(number, standing, false);
      EXPECT_EQ(standing.why, engine::Reason::Why::rung_closed) << text_of(standing);
      at(number).state = State::ended;
      tell(engine::TrialWasClosed{number});
    }
    const std::span<const engine::TrialNumber> left = searcher_->closable();
    EXPECT_TRUE(std::equal(left.begin(), left.end(), rest, closable.end()))
        << "what was told closed is not closable any more, and all else still is";
  }

  /// The numbers of a reason agree with each other and with what was reported so far.
  void expect_sound(engine::TrialNumber number, const engine::Reason& reason, bool goes_on) {
    using Why = engine::Reason::Why;
    SCOPED_TRACE("trial " + std::to_string(number.number()) + ": " + text_of(reason));
    EXPECT_EQ(reason.why == Why::promoted, goes_on);
    if (judge != nullptr) {
      judge->expect(number, reason);
    }
    EXPECT_EQ(reason.bracket.value_or(0), at(number).bracket) << "a trial stays in its bracket";
    if (reason.rank && reason.size) {
      EXPECT_LT(*reason.rank, *reason.size);
      if (reason.rung && at(number).latest) {
        expect_rank(*at(number).latest, reason);
      }
    }
    if (reason.rank && reason.keep) {
      EXPECT_EQ(*reason.rank < *reason.keep, goes_on);
      EXPECT_LE(*reason.keep, *reason.size);
      if (reason.cutoff && at(number).latest) {
        const engine::Score cutoff = engine::Score::from_metric(*reason.cutoff, config_.searcher.goal());
        if (goes_on) {
          EXPECT_LE(*at(number).latest, cutoff);
        } else {
          EXPECT_GE(*at(number).latest, cutoff);
        }
      }
    }
  }

  void expect_rank(engine::Score score, const engine::Reason& reason) {
    std::uint64_t better = 0;
    std::uint64_t not_worse = 0;
    for (const Trial& trial : trials_) {
      for (const Result& result : trial.results) {
        if (result.bracket == reason.bracket.value_or(0) && result.rung == *reason.rung) {
          better += result.score < score ? 1U : 0U;
          not_worse += result.score <= score ? 1U : 0U;
        }
      }
    }
    EXPECT_GE(*reason.rank, better);
    EXPECT_GE(*reason.size, not_worse);
    if (!score.is_worst()) {  // Trials that exited rank as worst; who knows how many a searcher counts.
      EXPECT_LT(*reason.rank, not_worse);
    }
  }

  void leave_slot(engine::TrialNumber number) {
    running_.erase(std::find(running_.begin(), running_.end(), number));
  }

  [[nodiscard]] Trial& at(engine::TrialNumber number) { return trials_[number.number()]; }

  void tell(const engine::SearchEvent& event) {
    on_event(event);
    note(event, {});
  }

  void on_event(const engine::SearchEvent& event) {
    const double before = searcher_->progress();
    searcher_->on_event(event);
    if (judge != nullptr) {
      judge->on_event(event, bracket_of(event));
    }
    EXPECT_GE(searcher_->progress(), before) << "progress goes back";
    EXPECT_LE(searcher_->progress(), 1.0);
  }

  [[nodiscard]] std::uint64_t bracket_of(const engine::SearchEvent& event) {
    return std::visit(
        [this](const auto& it) {
          if constexpr (requires { it.trial; }) {
            return at(it.trial).bracket;
          } else {
            return std::uint64_t{0};
          }
        },
        event);
  }

  void note(const engine::SearchEvent& event, std::string verdict) {
    const engine::Next next = searcher_->next();
    EXPECT_EQ(searcher_->progress() == 1.0, std::holds_alternative<engine::Finished>(next))
        << "progress is 1 exactly at the end; it is " << engine::python_float(searcher_->progress());
    if (keeps_log) {
      const std::span<const engine::TrialNumber> closable = searcher_->closable();
      const std::vector<engine::TrialNumber> waiting = all_that_wait();
      std::optional<engine::TrialNumber> one;
      if (!waiting.empty()) {
        one = waiting[log.size() % waiting.size()];
      }
      log.push_back({event,
                     text_of(next),
                     std::move(verdict),
                     {closable.begin(), closable.end()},
                     one,
                     one ? text_of_waiting(*searcher_, *one) : std::string(),
                     searcher_->progress()});
    }
    if (after_each != nullptr) {
      after_each(*this);
    }
  }

  engine::SearcherKind kind_;
  bool replaces_invalid_;
  engine::ExperimentConfig config_;      // What it began with.
  engine::ExperimentConfig now_wanted_;  // What users have made of it.
  FaultPlan faults_;
  engine::Draw chance_;
  engine::Cardinality planned_ = 0;
  std::optional<engine::Cardinality> supply_;  // Not more trials can count.
  std::size_t next_point_ = 0;                 // Of the points that are wanted now.
  std::uint64_t replaceable_;                  // So many trials may be replaced.
  bool was_lowered_ = false;
  std::unique_ptr<engine::Searcher> searcher_;
  std::uint64_t slots_ = 1;
  std::uint64_t most_slots_ = 1;
  std::uint64_t now_ = 0;
  std::vector<Trial> trials_;
  std::vector<engine::TrialNumber> running_;
  std::set<std::string> started_;  // Configurations.
  std::uint64_t not_counting_ = 0;
  std::uint64_t replacements_ = 0;
  std::map<std::uint64_t, std::uint64_t> owed_;  // Replacements, by bracket.
  bool finished_ = false;
  engine::Finished end_;
};

}  // namespace hpsearch::contract

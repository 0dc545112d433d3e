#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "contract/answers.hpp"
#include "contract/course_trial.hpp"
#include "contract/drawn_score.hpp"
#include "contract/fault_plan.hpp"
#include "contract/judge.hpp"
#include "contract/reason_checks.hpp"
#include "contract/recorded_answers.hpp"
#include "contract/trial_budget.hpp"
#include "contract/user_changes.hpp"
#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::contract {

/// One search from its first trial to its last, driven as the engine drives it, in an order of events and
/// with mishaps that are a function of the seed. Complains about every broken promise it sees on the way.
class Course {
 public:
  using Trial = CourseTrial;
  using Result = CourseTrial::Result;
  using State = CourseTrial::State;

  Course(engine::SearcherKind kind, bool replaces_invalid, engine::ExperimentConfig config, FaultPlan faults,
         std::uint64_t seed)
      : kind_(kind),
        config_(std::move(config)),
        budget_(kind, replaces_invalid, config_),
        faults_(faults),
        chance_(seed, engine::TrialNumber(1), "course"),
        searcher_(kind_.make(config_)) {
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
  std::vector<RecordedAnswers> log;

  [[nodiscard]] engine::Searcher& searcher() noexcept { return *searcher_; }
  void replace(std::unique_ptr<engine::Searcher> searcher) noexcept { searcher_ = std::move(searcher); }
  [[nodiscard]] const engine::SearcherKind& kind() const noexcept { return kind_; }
  [[nodiscard]] const engine::ExperimentConfig& config() const noexcept { return config_; }
  [[nodiscard]] const std::vector<Trial>& trials() const noexcept { return trials_; }
  [[nodiscard]] const engine::Finished& end() const noexcept { return end_; }
  [[nodiscard]] engine::Cardinality planned() const noexcept { return budget_.planned(); }
  [[nodiscard]] engine::Draw& chance() noexcept { return chance_; }

  void expect_all_trials() const { budget_.expect_used(); }

  [[nodiscard]] std::uint64_t counting() const noexcept { return budget_.counting(); }
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
        2000 + 400 * static_cast<std::uint64_t>(planned()) * (faults_.limit_changes + 1);
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
      change_settings();
    }
  }

 private:
  void expect_fresh() {
    EXPECT_EQ(kind_.preview(config_).trials, planned()) << "the preview plans another number of trials";
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

  void change_settings() {
    change("max_trials", faults_.limit_changes, [this] { return change_max_trials(budget_, chance_); });
    change("max_concurrent_trials", faults_.concurrency_changes,
           [this] { return change_max_concurrent_trials(); });
    change("points_to_evaluate", faults_.point_changes,
           [this] { return change_points(budget_, trials_, chance_); });
    change("on_duplicate", faults_.duplicate_changes, [this] { return change_duplicates(budget_, trials_); });
  }

  /// All that is named is closed before. A search that is over stays over; while its finalists are repeated,
  /// only another max_trials continues it.
  template <class Change>
  void change(std::string_view field, std::uint64_t percent, Change change) {
    if (!happens(percent) || !reads(kind_, field)) {
      return;
    }
    close_all();  // Which may end the search.
    if (!searcher_->finalists().empty() && field != "max_trials") {
      return;
    }
    if (!std::holds_alternative<engine::Finished>(searcher_->next())) {
      if (const std::optional<engine::SearchEvent> changed = change()) {
        tell(*changed);
      }
      close_some();
    }
  }

  /// Trials that run stay. With no fixed number there are as many slots as there were.
  engine::SearchEvent change_max_concurrent_trials() {
    const std::uint64_t wanted = chance_.below(12);
    most_slots_ = wanted > 0 ? wanted : most_slots_;
    slots_ = most_slots_;
    return engine::MaxConcurrentTrialsChanged{wanted};
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
        ASSERT_NO_FATAL_FAILURE(budget_.take(*create));
        Trial trial;
        trial.hparams = create->hparams;
        trial.length = create->length;
        trial.bracket = create->reason.bracket.value_or(0);
        trial.repeat = create->reason.why == engine::Reason::Why::repeat;
        EXPECT_TRUE(!trial.repeat || std::all_of(trials_.begin(), trials_.end(), [](const Trial& other) {
          return other.repeat || other.state == State::ended;
        })) << "a repeat before the search is over";
        trial.pace = 1 + chance_.below(std::max<std::uint64_t>(faults_.paces, 1));
        trial.done_at = now_ + engine::count(trial.length) * trial.pace;
        trials_.push_back(std::move(trial));
        running_.push_back(create->trial);
        tell(engine::TrialWasCreated{create->trial, create->hparams, create->length});
        if (!at(create->trial).repeat) {  // Those come however many trials there are.
          budget_.expect_kept();
        }
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
        EXPECT_EQ(finished->problem.has_value(), budget_.is_exceeded())
            << "a search gives up when more than max_trials trials would have to be replaced, and not before";
        return;
      } else {
        EXPECT_TRUE(budget_.is_spent()) << "a slot stays free while trials are wanted";
        return;
      }
      if (stops()) {
        return;
      }
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
      report(engine::TrialReported{number, step, drawn_score(faults_, goal(), chance_)});
      return;
    }
    validate(number);
  }

  /// Before its length, where a rule may stop it.
  void report(const engine::TrialReported& event) {
    on_event(event);
    const std::optional<engine::Reason> stop = searcher_->early_stop(event.trial);
    note(event, stop && keeps_log ? text_of(*stop) : std::string());
    if (!stop) {
      return;
    }
    using Why = engine::Reason::Why;
    EXPECT_TRUE(config_.searcher.stopping.stops_trials()) << text_of(*stop);
    EXPECT_FALSE(at(event.trial).repeat) << text_of(*stop);
    EXPECT_TRUE(stop->why == Why::worse_than_others || stop->why == Why::no_improvement) << text_of(*stop);
    if (stop->why == Why::worse_than_others) {
      EXPECT_GE(*stop->rank, *stop->keep) << text_of(*stop);
      EXPECT_LT(*stop->rank, *stop->size) << text_of(*stop);
      EXPECT_GT(*stop->size, config_.searcher.stopping.least_trials) << text_of(*stop);
    }
    at(event.trial).state = State::ended;
    leave_slot(event.trial);
    tell(engine::TrialWasClosed{event.trial});
  }

  void validate(engine::TrialNumber number) {
    const engine::Score score = drawn_score(faults_, goal(), chance_);
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
    if (at(number).invalid && !at(number).repeat) {
      budget_.lose(at(number).bracket);
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

  void expect_sound(engine::TrialNumber number, const engine::Reason& reason, bool goes_on) {
    SCOPED_TRACE("trial " + std::to_string(number.number()) + ": " + text_of(reason));
    if (judge != nullptr) {
      judge->expect(number, reason);
    }
    expect_reason(trials_, at(number), goal(), reason, goes_on);
  }

  void leave_slot(engine::TrialNumber number) {
    running_.erase(std::find(running_.begin(), running_.end(), number));
  }

  [[nodiscard]] engine::Goal goal() const { return config_.searcher.goal(); }
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
      const std::vector<engine::TrialNumber> waiting = all_that_wait();
      std::optional<engine::TrialNumber> one;
      if (!waiting.empty()) {
        one = waiting[log.size() % waiting.size()];
      }
      log.push_back(RecordedAnswers::of(*searcher_, event, std::move(verdict), one));
    }
    if (after_each != nullptr) {
      after_each(*this);
    }
  }

  engine::SearcherKind kind_;
  engine::ExperimentConfig config_;  // As the search began.
  TrialBudget budget_;
  FaultPlan faults_;
  engine::Draw chance_;
  std::unique_ptr<engine::Searcher> searcher_;
  std::uint64_t slots_ = 1;
  std::uint64_t most_slots_ = 1;
  std::uint64_t now_ = 0;
  std::vector<Trial> trials_;
  std::vector<engine::TrialNumber> running_;
  bool finished_ = false;
  engine::Finished end_;
};

}  // namespace hpsearch::contract

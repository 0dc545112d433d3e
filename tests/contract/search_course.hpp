#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::contract {

/// How often what happens to a trial, in percent, when it has its turn.
struct Weather {
  std::uint64_t errored = 0;
  std::uint64_t user_canceled = 0;
  std::uint64_t user_stopped = 0;
  std::uint64_t invalid_hp = 0;
  std::uint64_t without_metric = 0;  ///< NaN, an infinity or nothing.
  std::uint64_t intermediate = 0;    ///< A report before its length.
  std::uint64_t metrics = 0;         ///< Different values a metric can have; 0 = any real number.

  [[nodiscard]] static Weather drawn(engine::Draw& draw) {
    Weather weather;
    weather.metrics = draw.below(3) == 0 ? 1 + draw.below(4) : 0;
    weather.without_metric = draw.below(3) == 0 ? draw.below(40) : 0;
    weather.intermediate = draw.below(30);
    if (draw.below(2) == 0) {
      weather.errored = draw.below(12);
      weather.user_canceled = draw.below(6);
      weather.user_stopped = draw.below(6);
      weather.invalid_hp = draw.below(25);
    }
    return weather;
  }
};

/// One line that says all of an answer.
[[nodiscard]] inline std::string text_of(const engine::Reason& reason) {
  const auto shown = [](const auto& number) { return number ? std::to_string(*number) : std::string("-"); };
  return std::string(engine::name_of(reason.why)) + " bracket " + shown(reason.bracket) + " rung " +
         shown(reason.rung) + " rank " + shown(reason.rank) + " size " + shown(reason.size) + " keep " +
         shown(reason.keep) + " cutoff " + (reason.cutoff ? engine::python_float(*reason.cutoff) : "-") +
         ' ' + reason.detail;
}

[[nodiscard]] inline std::string text_of(const engine::Next& next) {
  struct Text {
    std::string operator()(const engine::CreateTrial& it) const {
      return "create " + std::to_string(it.trial.number()) + " to " +
             std::to_string(engine::count(it.length)) + ' ' + engine::compact_json(it.hparams) + ' ' +
             text_of(it.reason);
    }
    std::string operator()(const engine::PromoteTrial& it) const {
      return "promote " + std::to_string(it.trial.number()) + " to " +
             std::to_string(engine::count(it.length)) + ' ' + text_of(it.reason);
    }
    std::string operator()(const engine::NothingNow&) const { return "nothing now"; }
    std::string operator()(const engine::Finished& it) const {
      return "finished; problem: " + it.problem.value_or("none") + "; note: " + it.note;
    }
  };
  return std::visit(Text{}, next);
}

[[nodiscard]] inline std::string text_of(const engine::Verdict& verdict) {
  const char* actions[] = {"train on", "pause", "stop"};
  return std::string(actions[static_cast<int>(verdict.action)]) + " to " +
         std::to_string(engine::count(verdict.length)) + ' ' + text_of(verdict.reason);
}

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
  };
  /// Something the searcher was told, and what it answers right after to whoever asks.
  struct Heard {
    engine::SearchEvent event;
    std::string next;
    std::string verdict;  ///< Only after a TrialValidated.
    std::vector<engine::TrialNumber> closable;
    double progress = 0;
  };

  Course(engine::SearcherKind kind, bool replaces_invalid, engine::ExperimentConfig config, Weather weather,
         std::uint64_t seed)
      : kind_(kind),
        replaces_invalid_(replaces_invalid),
        config_(std::move(config)),
        weather_(weather),
        chance_(seed, engine::TrialNumber(1), "course"),
        planned_(kind_.preview(config_).trials),
        searcher_(kind_.make(config_)) {
    const std::uint64_t asked = config_.searcher.max_concurrent_trials;
    slots_ = asked == 0 ? 1 + chance_.below(12) : asked;
  }

  /// Called after every event and the answers to it; may replace the searcher by an equal one.
  void (*after_each)(Course&) = nullptr;
  std::vector<Heard> log;

  [[nodiscard]] engine::Searcher& searcher() noexcept { return *searcher_; }
  void replace(std::unique_ptr<engine::Searcher> searcher) noexcept { searcher_ = std::move(searcher); }
  [[nodiscard]] const engine::SearcherKind& kind() const noexcept { return kind_; }
  [[nodiscard]] const engine::ExperimentConfig& config() const noexcept { return config_; }
  [[nodiscard]] const std::vector<Trial>& trials() const noexcept { return trials_; }
  [[nodiscard]] const engine::Finished& end() const noexcept { return end_; }
  [[nodiscard]] engine::Cardinality planned() const noexcept { return planned_; }
  [[nodiscard]] engine::Draw& chance() noexcept { return chance_; }

  [[nodiscard]] std::uint64_t counting() const noexcept { return trials_.size() - not_counting_; }
  [[nodiscard]] std::map<engine::Units, std::uint64_t> final_counts() const {
    std::map<engine::Units, std::uint64_t> counts;
    for (const Trial& trial : trials_) {
      ++counts[trial.final_length];
    }
    return counts;
  }

  /// To the end, or until somebody complained.
  void run() {
    expect_fresh();
    // Every turn of a trial is a report, an exit or a step up; a search that needs more turns than this does
    // not end.
    std::uint64_t turns_left = 2000 + 400 * static_cast<std::uint64_t>(planned_);
    while (!::testing::Test::HasFailure()) {
      fill_slots();
      if (finished_) {
        break;
      }
      ASSERT_FALSE(running_.empty()) << "nothing runs, nothing is wanted, and the search is not finished";
      ASSERT_GT(turns_left--, 0U) << "the search does not end";
      const std::size_t turn = static_cast<std::size_t>(chance_.below(running_.size()));
      give_turn(running_[turn]);
      close_what_can_be();
    }
  }

 private:
  void expect_fresh() {
    EXPECT_EQ(searcher_->progress(), 0.0);
    EXPECT_TRUE(searcher_->closable().empty());
  }

  void fill_slots() {
    while (running_.size() < slots_) {
      const engine::Next next = searcher_->next();
      if (const auto* create = std::get_if<engine::CreateTrial>(&next)) {
        ASSERT_NO_FATAL_FAILURE(expect_well_made(*create));
        Trial trial;
        trial.hparams = create->hparams;
        trial.length = create->length;
        trial.bracket = create->reason.bracket.value_or(0);
        trials_.push_back(std::move(trial));
        running_.push_back(create->trial);
        tell(engine::TrialWasCreated{create->trial, create->hparams, create->length});
        EXPECT_LE(counting(), planned_) << "more trials than were asked for";
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
        return;
      } else {
        return;
      }
      ASSERT_FALSE(::testing::Test::HasFailure());
    }
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
    const std::vector<engine::Value>& points = config_.searcher.points_to_evaluate;
    const bool given = create.trial.number() < points.size();
    EXPECT_EQ(why == Why::given_point, given);
    if (given) {
      EXPECT_EQ(create.hparams, points[create.trial.number()]);
    }
    if (why == Why::replacement) {
      EXPECT_LT(replacements_++, not_counting_) << "a replacement for nothing";
    }
    if (config_.searcher.on_duplicate == engine::OnDuplicate::reject && config_.space.cardinality()) {
      EXPECT_TRUE(started_.insert(engine::compact_json(create.hparams)).second)
          << engine::compact_json(create.hparams) << " is started twice";
    }
  }

  void give_turn(engine::TrialNumber number) {
    using engine::ExitReason;
    const std::uint64_t happens = chance_.below(100);
    std::uint64_t upto = weather_.errored;
    if (happens < upto) {
      return exit(number, ExitReason::errored);
    }
    if (happens < (upto += weather_.user_canceled)) {
      return exit(number, ExitReason::user_canceled);
    }
    if (happens < (upto += weather_.user_stopped)) {
      return exit(number, ExitReason::user_stopped);
    }
    if (happens < (upto += weather_.invalid_hp)) {
      return exit(number, ExitReason::invalid_hp);
    }
    const std::uint64_t from = engine::count(at(number).final_length);
    const std::uint64_t to = engine::count(at(number).length);
    if (happens < upto + weather_.intermediate && from + 1 < to) {
      const engine::Units step{from + 1 + chance_.below(to - from - 1)};
      at(number).final_length = step;
      tell(engine::TrialReported{number, step, drawn_score()});
      return;
    }
    validate(number);
  }

  engine::Score drawn_score() {
    const engine::Goal goal = config_.searcher.goal();
    if (chance_.below(100) < weather_.without_metric) {
      constexpr double odd[] = {std::numeric_limits<double>::quiet_NaN(),
                                std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity()};
      return engine::Score::from_metric(odd[chance_.below(3)], goal);
    }
    const double metric =
        weather_.metrics == 0 ? chance_.unit() : static_cast<double>(chance_.below(weather_.metrics));
    return engine::Score::from_metric(metric, goal);
  }

  void validate(engine::TrialNumber number) {
    const engine::Score score = drawn_score();
    at(number).latest = score;
    at(number).final_length = at(number).length;
    const engine::TrialValidated event{number, at(number).length, score};
    hear(event);
    const engine::Verdict verdict = searcher_->verdict(number);
    note(event, text_of(verdict));
    const std::span<const engine::TrialNumber> closable = searcher_->closable();
    EXPECT_FALSE(std::binary_search(closable.begin(), closable.end(), number))
        << "a trial that is not paused needs a verdict, not closing";
    using Action = engine::Verdict::Action;
    if (verdict.reason.rung) {
      at(number).results.push_back({score, at(number).bracket, *verdict.reason.rung});
    }
    expect_sound(number, verdict.reason, verdict.action == Action::train_on);
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
    at(number).length = length;
    at(number).state = State::running;
    tell(engine::TrialWasPromoted{number, length});
  }

  void exit(engine::TrialNumber number, engine::ExitReason reason) {
    at(number).state = State::ended;
    leave_slot(number);
    if (reason == engine::ExitReason::invalid_hp) {
      at(number).invalid = true;
      at(number).results.clear();
    }
    if (at(number).invalid && replaces_invalid_) {
      ++not_counting_;
    }
    tell(engine::TrialExited{number, reason});
  }

  void close_what_can_be() {
    const std::span<const engine::TrialNumber> named = searcher_->closable();
    const std::vector<engine::TrialNumber> closable(named.begin(), named.end());
    EXPECT_TRUE(std::is_sorted(closable.begin(), closable.end()));
    EXPECT_EQ(std::adjacent_find(closable.begin(), closable.end()), closable.end());
    for (const engine::TrialNumber number : closable) {
      ASSERT_LT(number.number(), trials_.size());
      EXPECT_EQ(at(number).state, State::paused) << "only a trial that waits is closable";
      expect_sound(number, searcher_->standing(number), false);
      at(number).state = State::ended;
      tell(engine::TrialWasClosed{number});
    }
    EXPECT_TRUE(searcher_->closable().empty()) << "what was told closed is not closable any more";
  }

  /// The numbers of a reason agree with each other and with what was reported so far.
  void expect_sound(engine::TrialNumber number, const engine::Reason& reason, bool goes_on) {
    using Why = engine::Reason::Why;
    SCOPED_TRACE("trial " + std::to_string(number.number()) + ": " + text_of(reason));
    EXPECT_EQ(reason.why == Why::promoted, goes_on);
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
    hear(event);
    note(event, {});
  }

  void hear(const engine::SearchEvent& event) {
    const double before = searcher_->progress();
    searcher_->hear(event);
    EXPECT_GE(searcher_->progress(), before) << "progress goes back";
    EXPECT_LE(searcher_->progress(), 1.0);
  }

  void note(const engine::SearchEvent& event, std::string verdict) {
    const engine::Next next = searcher_->next();
    EXPECT_EQ(searcher_->progress() == 1.0, std::holds_alternative<engine::Finished>(next))
        << "progress is 1 exactly at the end; it is " << engine::python_float(searcher_->progress());
    const std::span<const engine::TrialNumber> closable = searcher_->closable();
    log.push_back({event,
                   text_of(next),
                   std::move(verdict),
                   {closable.begin(), closable.end()},
                   searcher_->progress()});
    if (after_each != nullptr) {
      after_each(*this);
    }
  }

  engine::SearcherKind kind_;
  bool replaces_invalid_;
  engine::ExperimentConfig config_;
  Weather weather_;
  engine::Draw chance_;
  engine::Cardinality planned_;
  std::unique_ptr<engine::Searcher> searcher_;
  std::uint64_t slots_ = 1;
  std::vector<Trial> trials_;
  std::vector<engine::TrialNumber> running_;
  std::set<std::string> started_;
  std::uint64_t not_counting_ = 0;
  std::uint64_t replacements_ = 0;
  bool finished_ = false;
  engine::Finished end_;
};

}  // namespace hpsearch::contract

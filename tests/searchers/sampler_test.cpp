#include "hpsearch/searchers/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/searchers/adaptive_asha.hpp"
#include "hpsearch/searchers/async_halving.hpp"
#include "settings.hpp"

// What a searcher tells its sampler, and what it makes of the samples.

namespace hpsearch::searchers {
namespace {

using engine::CreateTrial;
using engine::ExitReason;
using engine::Reason;
using engine::Searcher;
using engine::TrialNumber;
using test::ExperimentConfig;
using test::int_range;
using test::score;
using test::settings;
using test::space_of;
using test::Units;
using test::Value;

Value layers(std::int64_t number) {
  return Value::Map{{"layers", number}};
}

/// Proposes what the test sets, and records what it gets.
class Scripted final : public Sampler {
 public:
  struct Script {
    Sample next{layers(5)};
    std::vector<std::string> heard;
    std::vector<Units> rungs;
    int samples = 0;
    bool was_taken = false;
  };

  explicit Scripted(Script& script) : script_(script) {}

  [[nodiscard]] Sample sample(TrialNumber /*trial*/, std::span<const Units> rungs,
                              const Taken& taken) const override {
    ++script_.samples;
    script_.rungs.assign(rungs.begin(), rungs.end());
    script_.was_taken = taken && taken(script_.next.hparams);
    return script_.next;
  }
  void on_created(TrialNumber trial, const Value& hparams, Units target) override {
    note(trial, "created with " + engine::compact_json(hparams) + " to " + text_of(target));
  }
  void on_promoted(TrialNumber trial, Units target) override {
    note(trial, "promoted to " + text_of(target));
  }
  void on_validated(TrialNumber trial, Units length, engine::Score reported) override {
    note(trial, "has " + engine::short_number(reported.metric(engine::Goal::minimize).value_or(-1)) + " at " +
                    text_of(length));
  }
  void on_exited(TrialNumber trial, ExitReason reason) override {
    note(trial, "exited: " + std::string(engine::name_of(reason)));
  }
  void on_closed(TrialNumber trial) override { note(trial, "closed"); }

 private:
  static std::string text_of(Units length) { return std::to_string(engine::count(length)); }
  void note(TrialNumber trial, const std::string& what) {
    script_.heard.push_back(std::to_string(trial.number()) + " " + what);
  }

  Script& script_;
};

/// Rungs at 1, 3 and 9; layers from 1 to 9.
ExperimentConfig halving() {
  ExperimentConfig config = settings("async_halving", 9, 20);
  config.space = space_of({{"layers", int_range(1, 9)}});
  config.searcher.num_rungs = 3;
  config.searcher.divisor = 3;
  return config;
}

std::unique_ptr<Searcher> scripted(const ExperimentConfig& config, Scripted::Script& script) {
  return make_async_halving(config, std::make_unique<Scripted>(script));
}

CreateTrial start(Searcher& searcher) {
  const engine::Next next = searcher.next();
  const CreateTrial create = std::get<CreateTrial>(next);
  searcher.on_event(engine::TrialWasCreated{create.trial, create.hparams, create.length});
  return create;
}

TEST(SamplerSeam, TellsWhatTrainsWhatCameOfItAndWhatEnded) {
  Scripted::Script script;
  const std::unique_ptr<Searcher> searcher = scripted(halving(), script);
  for (std::uint64_t trial = 0; trial < 3; ++trial) {
    start(*searcher);
    searcher->on_event(engine::TrialReported{TrialNumber(trial), Units{1}, score(9)});
    searcher->on_event(
        engine::TrialValidated{TrialNumber(trial), Units{1}, score(static_cast<double>(3 - trial))});
  }
  searcher->on_event(engine::TrialWasPromoted{TrialNumber(2), Units{3}});
  searcher->on_event(engine::TrialExited{TrialNumber(2), ExitReason::errored});
  searcher->on_event(engine::TrialExited{TrialNumber(2), ExitReason::invalid_hp});  // Too late.
  searcher->on_event(engine::TrialWasClosed{TrialNumber(0)});
  searcher->on_event(engine::TrialValidated{TrialNumber(0), Units{1}, score(7)});  // Too late.
  EXPECT_EQ(script.heard, (std::vector<std::string>{R"(0 created with {"layers":5} to 1)", "0 has 3 at 1",
                                                    R"(1 created with {"layers":5} to 1)", "1 has 2 at 1",
                                                    R"(2 created with {"layers":5} to 1)", "2 has 1 at 1",
                                                    "2 promoted to 3", "2 exited: errored", "0 closed"}));
}

TEST(SamplerSeam, ASampleIsKeptUntilSomethingIsHeardAndReplayTakesNone) {
  Scripted::Script script;
  const std::unique_ptr<Searcher> searcher = scripted(halving(), script);
  for (int times = 0; times < 3; ++times) {
    EXPECT_TRUE(std::holds_alternative<CreateTrial>(searcher->next()));
  }
  EXPECT_EQ(script.samples, 1);
  start(*searcher);
  EXPECT_EQ(script.samples, 1);
  for (int times = 0; times < 3; ++times) {
    EXPECT_TRUE(std::holds_alternative<CreateTrial>(searcher->next()));
  }
  EXPECT_EQ(script.samples, 2);
  searcher->on_event(engine::TrialReported{TrialNumber(0), Units{1}, score(9)});
  EXPECT_TRUE(std::holds_alternative<CreateTrial>(searcher->next()));
  EXPECT_EQ(script.samples, 2) << "nothing that it hears of";
  script.next.hparams = layers(6);
  searcher->on_event(engine::TrialValidated{TrialNumber(0), Units{1}, score(1)});
  EXPECT_EQ(start(*searcher).hparams, layers(6));
  EXPECT_EQ(script.samples, 3);

  Scripted::Script replay;
  const std::unique_ptr<Searcher> again = scripted(halving(), replay);
  again->on_event(engine::TrialWasCreated{TrialNumber(0), layers(5), Units{1}});
  again->on_event(engine::TrialValidated{TrialNumber(0), Units{1}, score(1)});
  again->on_event(engine::TrialWasCreated{TrialNumber(1), layers(6), Units{1}});
  again->on_event(engine::MaxTrialsChanged{30});
  again->on_event(engine::PointsChanged{{layers(2)}});
  again->on_event(engine::DuplicatesChanged{true, {layers(5), layers(6)}});
  EXPECT_EQ(replay.samples, 0);
}

TEST(SamplerSeam, ATrialBeginsWhereTheSampleSaysAndCountsThere) {
  Scripted::Script script;
  const std::unique_ptr<Searcher> searcher = scripted(halving(), script);
  script.next.first_rung = 1;
  const CreateTrial late = start(*searcher);
  EXPECT_EQ(script.rungs, (std::vector<Units>{Units{1}, Units{3}, Units{9}}));
  EXPECT_EQ(late.length, Units{3});
  EXPECT_EQ(late.reason.rung, 1U);
  script.next.first_rung = 7;
  const CreateTrial last = start(*searcher);
  EXPECT_EQ(last.length, Units{9}) << "past the last means the last";
  EXPECT_EQ(last.reason.rung, 2U);
  script.next.first_rung = 0;
  EXPECT_EQ(start(*searcher).length, Units{1});
  searcher->on_event(engine::TrialValidated{TrialNumber(0), Units{3}, score(1)});
  const engine::Verdict verdict = searcher->verdict(TrialNumber(0));
  EXPECT_EQ(verdict.action, engine::Verdict::Action::pause);
  EXPECT_EQ(verdict.reason.rung, 1U);
  EXPECT_EQ(verdict.reason.size, 1U);
  searcher->on_event(engine::TrialValidated{TrialNumber(1), Units{9}, score(1)});
  EXPECT_EQ(searcher->verdict(TrialNumber(1)).reason.why, Reason::Why::max_length);
  searcher->on_event(engine::TrialValidated{TrialNumber(2), Units{1}, score(1)});
  EXPECT_EQ(searcher->verdict(TrialNumber(2)).reason.size, 1U) << "those above do not count below";
}

TEST(SamplerSeam, TrialsToComeMayComeToAnyRungAtOnce) {
  Scripted::Script script;
  const std::unique_ptr<Searcher> searcher = scripted(halving(), script);
  script.next.first_rung = 1;
  start(*searcher);
  searcher->on_event(engine::TrialValidated{TrialNumber(0), Units{3}, score(1)});
  EXPECT_EQ(searcher->outlook(TrialNumber(0)).results_to_come, 19U);
}

TEST(SamplerSeam, ATrialThatBeginsLateCountsOnceAsProgress) {
  ExperimentConfig config = halving();
  config.searcher.max_trials = 2;
  for (const ExitReason reason : {ExitReason::user_canceled, ExitReason::invalid_hp}) {
    Scripted::Script script;
    const std::unique_ptr<Searcher> searcher = scripted(config, script);
    script.next.first_rung = 1;
    start(*searcher);
    start(*searcher);
    searcher->on_event(engine::TrialValidated{TrialNumber(0), Units{3}, score(1)});
    EXPECT_DOUBLE_EQ(searcher->progress(), 1 / 2.4);
    searcher->on_event(engine::TrialExited{TrialNumber(0), reason});
    EXPECT_DOUBLE_EQ(searcher->progress(), 1 / 2.4);
    searcher->on_event(engine::TrialValidated{TrialNumber(1), Units{3}, score(2)});
    // Two trials have a result and one is closed; or one of two has a result.
    EXPECT_DOUBLE_EQ(searcher->progress(), reason == ExitReason::invalid_hp ? 1 / 2.4 : 2 / 2.4);
  }
}

TEST(SamplerSeam, ALengthOfNoRungIsTheFirstRung) {
  Scripted::Script script;
  const std::unique_ptr<Searcher> searcher = scripted(halving(), script);
  searcher->on_event(engine::TrialWasCreated{TrialNumber(0), layers(5), Units{2}});
  searcher->on_event(engine::TrialValidated{TrialNumber(0), Units{2}, score(1)});
  EXPECT_EQ(searcher->verdict(TrialNumber(0)).reason.rung, 0U);
}

TEST(SamplerSeam, PointsComeFirstAndWhatWasStartedIsReplaced) {
  ExperimentConfig config = halving();
  config.searcher.points_to_evaluate = {layers(2), layers(3)};
  config.searcher.on_duplicate = engine::OnDuplicate::reject;
  Scripted::Script script;
  script.next.reason.why = Reason::Why::near_trial;
  script.next.reason.near = 0;
  const std::unique_ptr<Searcher> searcher = scripted(config, script);
  EXPECT_EQ(start(*searcher).hparams, layers(2));
  const CreateTrial second = start(*searcher);
  EXPECT_EQ(second.hparams, layers(3));
  EXPECT_EQ(second.reason.why, Reason::Why::given_point);
  EXPECT_EQ(script.samples, 0);
  const CreateTrial sampled = start(*searcher);
  EXPECT_EQ(sampled.hparams, layers(5));
  EXPECT_EQ(sampled.reason.why, Reason::Why::near_trial);
  EXPECT_EQ(sampled.reason.near, 0U);
  EXPECT_FALSE(script.was_taken);
  const CreateTrial drawn = start(*searcher);
  EXPECT_TRUE(script.was_taken);
  EXPECT_NE(drawn.hparams, layers(5));
  EXPECT_EQ(drawn.reason.why, Reason::Why::new_trial);
  EXPECT_EQ(drawn.reason.near, std::nullopt);
}

TEST(SamplerSeam, OneSamplerServesAllBrackets) {
  ExperimentConfig config = halving();
  config.searcher.name = "adaptive_asha";
  config.searcher.num_rungs = 0;
  config.searcher.bracket_rungs = {3, 1};
  Scripted::Script script;
  const std::unique_ptr<Searcher> searcher = make_adaptive_asha(config, std::make_unique<Scripted>(script));
  std::vector<std::size_t> rungs;
  for (std::uint64_t trial = 0; trial < 20; ++trial) {
    const CreateTrial create = start(*searcher);
    EXPECT_EQ(create.trial.number(), trial);
    EXPECT_EQ(script.rungs.size(), create.reason.bracket == 0U ? 3U : 1U);
    rungs.push_back(script.rungs.size());
  }
  EXPECT_EQ(script.heard.size(), 20U);
  EXPECT_EQ(script.samples, 20);
  EXPECT_GT(std::count(rungs.begin(), rungs.end(), 1U), 0);
  EXPECT_GT(std::count(rungs.begin(), rungs.end(), 3U), 0);
}

}  // namespace
}  // namespace hpsearch::searchers

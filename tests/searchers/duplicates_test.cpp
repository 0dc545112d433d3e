#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "settings.hpp"

// on_duplicate: reject, against a twin that keeps every configuration of a small space in a set.

namespace hpsearch::searchers {
namespace {

using engine::CreateTrial;
using engine::ExitReason;
using engine::Finished;
using engine::Searcher;
using engine::TrialNumber;
using test::categorical;
using test::ExperimentConfig;
using test::int_range;
using test::kind_of;
using test::settings;
using test::Units;
using test::Value;

/// One to three leaves, some nested, some constant, some with a value that stands twice.
Value::Map drawn_space(engine::Draw& draw) {
  const auto leaf = [&draw]() -> Value {
    switch (draw.below(4)) {
      case 0:
        return categorical({"a", "b", "a"});
      case 1:
        return categorical({1, 1.0, Value::List{1, 2}, nullptr});
      case 2:
        return 0.5;
      default: {
        const auto low = static_cast<std::int64_t>(draw.below(5)) - 2;
        return int_range(low, low + 1 + static_cast<std::int64_t>(draw.below(4)));
      }
    }
  };
  Value::Map space;
  space["x"] = leaf();
  if (draw.below(2) == 0) {
    space["y"] = Value::Map{{"deep", Value::Map{{"z", leaf()}}}, {"w", leaf()}};
  }
  return space;
}

/// Real-valued, and yet with a few configurations only.
Value::Map drawn_narrow_space(engine::Draw& draw) {
  const Value::Map logs = {{"type", "log"}, {"base", 1}, {"minval", -3}, {"maxval", 3}};
  const double next = std::nextafter(0.1, 1.0);
  const Value::Map neighbours =
      test::double_range(0.1, draw.below(2) == 0 ? next : std::nextafter(next, 1.0));
  Value::Map space;
  space["x"] = draw.below(2) == 0 ? logs : neighbours;
  if (draw.below(3) > 0) {
    space["y"] = Value::Map{{"deep", categorical({"a", "b", 1})}};
  }
  return space;
}

/// Every configuration of the space, by drawing until nothing new has come for long.
std::set<std::string> all_of(const engine::Space& space) {
  std::set<std::string> all;
  std::uint64_t since_new = 0;
  for (std::uint64_t trial = 0; since_new < 600; ++trial) {
    const bool is_new = all.insert(engine::compact_json(space.sample(99, TrialNumber(trial)))).second;
    since_new = is_new ? 0 : since_new + 1;
  }
  return all;
}

/// Points that lack a hyperparameter: each value is started once, and points for which nothing is left are
/// passed.
TEST(Duplicates, MissingPartOfAPointIsDrawnAmongTheUnused) {
  ExperimentConfig config = settings("random", 9, 6);
  config.space =
      test::space_of({{"kind", Value::Map{{"type", "categorical"}, {"vals", Value::List{"a", "b"}}}},
                      {"n", Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", 3}}}});
  config.searcher.on_duplicate = engine::OnDuplicate::reject;
  for (int i = 0; i < 5; ++i) {  // There are three of kind a.
    config.searcher.points_to_evaluate.push_back(Value::Map{{"kind", "a"}});
  }
  std::unique_ptr<Searcher> searcher = kind_of(config).make(config);
  std::set<std::string> started;
  for (int i = 0; i < 6; ++i) {
    const engine::Next next = searcher->next();
    const auto* create = std::get_if<CreateTrial>(&next);
    ASSERT_NE(create, nullptr);
    EXPECT_EQ(create->reason.why == engine::Reason::Why::given_point, i < 3);
    EXPECT_EQ(*create->hparams.at_path("kind"), Value(i < 3 ? "a" : "b"));
    EXPECT_TRUE(started.insert(engine::compact_json(create->hparams)).second);
    searcher->on_event(engine::TrialWasCreated{create->trial, create->hparams, create->length});
    searcher->on_event(engine::TrialWasClosed{create->trial});
  }
}

void run_against_twin(const std::string& kind, std::uint64_t seed, Value::Map (*space)(engine::Draw&)) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  engine::Draw draw(seed, TrialNumber(0), "duplicates");
  ExperimentConfig config = settings(kind, 9, 1 + draw.below(40));
  config.space = test::space_of(space(draw));
  config.experiment_seed = seed;
  config.searcher.num_rungs = 2;
  config.searcher.max_concurrent_trials = draw.below(6);
  config.searcher.on_duplicate = engine::OnDuplicate::reject;
  const std::set<std::string> all = all_of(config.space);
  ASSERT_GE(config.space.cardinality().value_or(all.size()), all.size());
  std::set<std::string> given;
  for (std::uint64_t i = draw.below(3); i > 0 && given.size() < config.searcher.max_trials; --i) {
    const Value point = config.space.sample(77, TrialNumber(i));
    if (given.insert(engine::compact_json(point)).second) {
      config.searcher.points_to_evaluate.push_back(point);
    }
  }

  std::unique_ptr<Searcher> searcher = kind_of(config).make(config);
  std::set<std::string> used;
  std::vector<TrialNumber> running;
  std::uint64_t max_trials = config.searcher.max_trials;
  std::uint64_t invalid = 0;
  std::uint64_t created = 0;
  const std::uint64_t failure_history = draw.below(3) * 15;
  for (int turn = 0; turn < 5000; ++turn) {
    const engine::Next next = searcher->next();
    if (const auto* finished = std::get_if<Finished>(&next)) {
      const bool exhausted = used.size() == all.size();
      if (finished->problem) {
        EXPECT_GT(invalid, max_trials);
      } else {
        EXPECT_TRUE(exhausted || created - invalid >= max_trials) << "it ends too early";
        EXPECT_EQ(!finished->note.empty(), exhausted && created - invalid < max_trials) << finished->note;
      }
      EXPECT_EQ(searcher->progress(), 1.0);
      return;
    }
    if (const auto* create = std::get_if<CreateTrial>(&next); create != nullptr && running.size() < 5) {
      const std::string configuration = engine::compact_json(create->hparams);
      ASSERT_TRUE(all.contains(configuration)) << configuration << " is not in the space";
      ASSERT_TRUE(used.insert(configuration).second) << configuration << " is started twice";
      const std::string drawn =
          engine::compact_json(config.space.sample(config.experiment_seed, create->trial));
      if (created < config.searcher.points_to_evaluate.size()) {
        ASSERT_EQ(create->hparams, config.searcher.points_to_evaluate[created]);
      } else if (configuration != drawn) {
        ASSERT_TRUE(used.contains(drawn)) << "its own draw was still unused";
      }
      running.push_back(create->trial);
      searcher->on_event(engine::TrialWasCreated{create->trial, create->hparams, create->length});
      ++created;
    } else if (!running.empty()) {
      const TrialNumber trial = running.back();
      running.pop_back();
      if (draw.below(100) < failure_history) {
        ++invalid;
        searcher->on_event(engine::TrialExited{trial, ExitReason::invalid_hp});
      } else {
        searcher->on_event(engine::TrialExited{trial, ExitReason::user_stopped});
      }
    } else {
      FAIL() << "nothing runs and nothing is wanted";
    }
    if (searcher->progress() < 1 && draw.below(20) == 0) {
      max_trials = created - invalid + 1 + draw.below(30);
      searcher->on_event(engine::MaxTrialsChanged{max_trials});
      ASSERT_LE(created - invalid, max_trials);
    }
  }
  FAIL() << "it does not end";
}

TEST(RejectingDuplicates, RandomStartsEveryConfigurationAtMostOnce) {
  for (std::uint64_t seed = 1; seed <= 60 && !::testing::Test::HasFailure(); ++seed) {
    run_against_twin("random", seed, drawn_space);
    run_against_twin("random", seed, drawn_narrow_space);
  }
}

TEST(RejectingDuplicates, AsyncHalvingStartsEveryConfigurationAtMostOnce) {
  for (std::uint64_t seed = 1; seed <= 60 && !::testing::Test::HasFailure(); ++seed) {
    run_against_twin("async_halving", seed, drawn_space);
    run_against_twin("async_halving", seed, drawn_narrow_space);
  }
}

TEST(RejectingDuplicates, AdaptiveAshaStartsEveryConfigurationAtMostOnce) {
  for (std::uint64_t seed = 1; seed <= 60 && !::testing::Test::HasFailure(); ++seed) {
    run_against_twin("adaptive_asha", seed, drawn_space);
    run_against_twin("adaptive_asha", seed, drawn_narrow_space);
  }
}

ExperimentConfig two_configurations(std::uint64_t max_trials) {
  ExperimentConfig config = settings("random", 1, max_trials);
  config.space = test::space_of({{"x", categorical({"a", "b"})}});
  config.searcher.on_duplicate = engine::OnDuplicate::reject;
  return config;
}

CreateTrial start(Searcher& searcher) {
  const engine::Next next = searcher.next();
  if (!std::holds_alternative<CreateTrial>(next)) {
    ADD_FAILURE() << "no trial to start";
    return {};
  }
  const CreateTrial create = std::get<CreateTrial>(next);
  searcher.on_event(engine::TrialWasCreated{create.trial, create.hparams, create.length});
  return create;
}

TEST(RejectingDuplicates, MoreTrialsDoNotMakeAnExhaustedSpaceLarger) {
  const auto searcher = kind_of(two_configurations(2)).make(two_configurations(2));
  start(*searcher);
  start(*searcher);
  searcher->on_event(engine::MaxTrialsChanged{10});
  EXPECT_TRUE(std::holds_alternative<engine::NothingNow>(searcher->next())) << "both still run";
  searcher->on_event(engine::TrialWasClosed{TrialNumber(0)});
  searcher->on_event(engine::TrialWasClosed{TrialNumber(1)});
  const engine::Next next = searcher->next();
  ASSERT_TRUE(std::holds_alternative<Finished>(next));
  EXPECT_EQ(std::get<Finished>(next).note,
            "the space is exhausted: all its configurations were tried, in 2 trials; 10 were asked for");
}

TEST(RejectingDuplicates, AnExhaustedSearchGoesOnOnceDuplicatesAreAllowed) {
  for (const char* kind : {"random", "async_halving", "adaptive_asha"}) {
    ExperimentConfig config = settings(kind, 9, 3);
    config.searcher.num_rungs = 2;
    config.space = test::space_of({{"x", categorical({"a", "b"})}});
    config.searcher.on_duplicate = engine::OnDuplicate::reject;
    const auto searcher = kind_of(config).make(config);
    const Value first = start(*searcher).hparams;
    const Value second = start(*searcher).hparams;
    EXPECT_TRUE(std::holds_alternative<engine::NothingNow>(searcher->next())) << kind << ": there are two";
    searcher->on_event(engine::DuplicatesChanged{false, {}});
    const Value third = start(*searcher).hparams;
    EXPECT_TRUE(third == first || third == second) << kind;
    EXPECT_TRUE(std::holds_alternative<engine::NothingNow>(searcher->next()))
        << kind << ": three were asked for";
    searcher->on_event(engine::MaxTrialsChanged{4});
    searcher->on_event(engine::DuplicatesChanged{true, {first, second, third}});
    EXPECT_TRUE(std::holds_alternative<engine::NothingNow>(searcher->next())) << kind << ": none is left";
  }
}

ExperimentConfig real_valued(std::uint64_t max_trials) {
  ExperimentConfig config = settings("random", 1, max_trials);
  config.space = test::space_of({{"lr", test::double_range(-1, 1)}, {"act", categorical({"relu", "gelu"})}});
  config.experiment_seed = 3;
  config.searcher.on_duplicate = engine::OnDuplicate::reject;
  return config;
}

TEST(RejectingDuplicates, ARealValuedPointThatIsGivenLateStartsOnce) {
  const ExperimentConfig config = real_valued(5);
  const auto searcher = kind_of(config).make(config);
  const Value first = start(*searcher).hparams;
  const Value fresh = Value::Map{{"act", "gelu"}, {"lr", 0.25}};
  searcher->on_event(engine::PointsChanged{{first, fresh}});
  const CreateTrial second = start(*searcher);
  EXPECT_EQ(second.hparams, fresh) << "the point was started: the next one takes its place";
  EXPECT_EQ(second.reason.why, engine::Reason::Why::given_point);
  const CreateTrial third = start(*searcher);
  EXPECT_EQ(third.hparams, config.space.sample(3, TrialNumber(2)));
  EXPECT_EQ(third.reason.why, engine::Reason::Why::new_trial);
}

TEST(RejectingDuplicates, ZeroIsOneNumberWhateverItsSign) {
  const ExperimentConfig config = real_valued(5);
  const auto searcher = kind_of(config).make(config);
  const Value zero = Value::Map{{"act", "relu"}, {"lr", 0.0}};
  searcher->on_event(engine::TrialWasCreated{TrialNumber(0), zero, Units{1}});
  const Value negative = Value::Map{{"act", "relu"}, {"lr", -0.0}};
  const Value other = Value::Map{{"act", "gelu"}, {"lr", 0.0}};
  searcher->on_event(engine::PointsChanged{{negative, other}});
  EXPECT_EQ(start(*searcher).hparams, other) << "another act is another configuration";
  EXPECT_EQ(start(*searcher).reason.why, engine::Reason::Why::new_trial);
}

// The redraw is the same for everybody who asks, whatever happened besides and whoever was loaded meanwhile.
TEST(RejectingDuplicates, ARealValuedDrawThatWasStartedIsDrawnAgain) {
  ExperimentConfig config = real_valued(9);
  const Value taken = config.space.sample(3, TrialNumber(2));
  config.searcher.points_to_evaluate = {taken};
  const auto searcher = kind_of(config).make(config);
  EXPECT_EQ(start(*searcher).hparams, taken);
  EXPECT_EQ(start(*searcher).hparams, config.space.sample(3, TrialNumber(1)));
  const auto twin = kind_of(config).make(config);
  start(*twin);
  start(*twin);
  const Value again = start(*searcher).hparams;
  EXPECT_NE(again, taken);
  EXPECT_EQ(start(*twin).hparams, again);
  EXPECT_EQ(start(*searcher).hparams, config.space.sample(3, TrialNumber(3)))
      << "others draw what they always draw";

  config.searcher.points_to_evaluate = {Value::Map{{"act", "relu"}, {"lr", 0.5}}, taken};
  const auto other = kind_of(config).make(config);
  start(*other);
  start(*other);
  EXPECT_EQ(start(*other).hparams, again);
}

TEST(RejectingDuplicates, ARuleThatComesLateKnowsWhatWasStartedOfARealValuedSpace) {
  ExperimentConfig config = real_valued(5);
  config.searcher.on_duplicate = engine::OnDuplicate::allow;
  const auto searcher = kind_of(config).make(config);
  const Value first = start(*searcher).hparams;
  searcher->on_event(engine::DuplicatesChanged{true, {first}});
  searcher->on_event(engine::PointsChanged{{first}});
  EXPECT_NE(start(*searcher).hparams, first);
  searcher->on_event(engine::DuplicatesChanged{false, {}});
  searcher->on_event(engine::PointsChanged{{first}});
  EXPECT_EQ(start(*searcher).hparams, first);
}

ExperimentConfig one_number(const char* kind) {
  ExperimentConfig config = settings(kind, 1, 3);
  config.space =
      test::space_of({{"x", Value::Map{{"type", "log"}, {"base", 1}, {"minval", 0}, {"maxval", 1}}}});
  config.searcher.num_rungs = 1;
  config.searcher.on_duplicate = engine::OnDuplicate::reject;
  return config;
}

TEST(RejectingDuplicates, ARealValuedSpaceWithOneNumberEndsAndSaysSo) {
  const ExperimentConfig config = one_number("random");
  const auto searcher = kind_of(config).make(config);
  start(*searcher);
  EXPECT_TRUE(std::holds_alternative<engine::NothingNow>(searcher->next()));
  searcher->on_event(engine::TrialWasClosed{TrialNumber(0)});
  const engine::Next next = searcher->next();
  ASSERT_TRUE(std::holds_alternative<Finished>(next));
  EXPECT_EQ(std::get<Finished>(next).note,
            "the space is exhausted: no draw is another configuration than those tried, in 1 trial; 3 were "
            "asked for");
}

// 1 + 1e-12 still counts as in the range, whose only draw is 1.
TEST(RejectingDuplicates, PointsOutlastTheDraws) {
  const Value beside = Value::Map{{"x", 1 + 5e-13}};
  for (const char* kind : {"random", "async_halving", "adaptive_asha"}) {
    SCOPED_TRACE(kind);
    ExperimentConfig config = one_number(kind);
    config.searcher.points_to_evaluate = {Value::Map{{"x", 1.0}}, beside};
    const auto searcher = kind_of(config).make(config);
    start(*searcher);
    EXPECT_EQ(start(*searcher).hparams, beside);
    EXPECT_TRUE(std::holds_alternative<engine::NothingNow>(searcher->next()));
    const Value late = Value::Map{{"x", 1 + 7e-13}};
    searcher->on_event(engine::PointsChanged{{beside, late}});
    const CreateTrial third = start(*searcher);
    EXPECT_EQ(third.hparams, late) << "no draw can take the place of the first, which was started";
    EXPECT_EQ(third.reason.why, engine::Reason::Why::given_point);
    EXPECT_TRUE(std::holds_alternative<engine::NothingNow>(searcher->next()));
  }
}

TEST(RejectingDuplicates, ALogThatHasMoreTrialsThanThereAreConfigurationsIsHeardToItsEnd) {
  for (const char* kind : {"random", "async_halving", "adaptive_asha"}) {
    SCOPED_TRACE(kind);
    const ExperimentConfig config = one_number(kind);
    const auto searcher = kind_of(config).make(config);
    for (std::uint64_t trial = 0; trial < 3; ++trial) {
      searcher->on_event(engine::TrialWasCreated{TrialNumber(trial), Value::Map{{"x", 1.0}}, Units{1}});
      searcher->on_event(engine::TrialValidated{TrialNumber(trial), Units{1}, test::score(0)});
      searcher->on_event(engine::TrialWasClosed{TrialNumber(trial)});
    }
    EXPECT_TRUE(std::holds_alternative<Finished>(searcher->next()));
    EXPECT_EQ(searcher->progress(), 1.0);
  }
}

TEST(RejectingDuplicates, ASpaceTooLargeToCountNeverRunsOut) {
  ExperimentConfig config = settings("random", 1, 3);
  Value::Map axes;
  for (int axis = 0; axis < 3; ++axis) {
    axes["x" + std::to_string(axis)] = int_range(-9'000'000'000'000'000'000, 9'000'000'000'000'000'000);
  }
  config.space = test::space_of(axes);
  config.searcher.on_duplicate = engine::OnDuplicate::reject;
  const auto searcher = kind_of(config).make(config);
  std::set<std::string> used;
  for (int trial = 0; trial < 3; ++trial) {
    EXPECT_TRUE(used.insert(engine::compact_json(start(*searcher).hparams)).second);
  }
}

TEST(RejectingDuplicates, ASpaceOf10ToThe18RunsAtOnce) {
  ExperimentConfig config = settings("random", 1, 3);
  config.space = test::space_of({{"x", int_range(1, 1'000'000'000'000'000'000)}});
  config.searcher.on_duplicate = engine::OnDuplicate::reject;
  config.searcher.points_to_evaluate = {config.space.sample(config.experiment_seed, TrialNumber(1))};
  const auto searcher = kind_of(config).make(config);
  const Value given = start(*searcher).hparams;
  EXPECT_NE(start(*searcher).hparams, given) << "trial 1 would draw the given point again";
}

}  // namespace
}  // namespace hpsearch::searchers

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/searchers/finite_space.hpp"
#include "hpsearch/searchers/random.hpp"
#include "settings.hpp"

// Conditions on configurations (`where`), whoever proposes them.

namespace hpsearch::searchers {
namespace {

using engine::CreateTrial;
using engine::Searcher;
using engine::TrialNumber;
using test::double_range;
using test::ExperimentConfig;
using test::int_range;
using test::kind_of;
using test::score;
using test::settings;
using test::space_of;
using test::Units;
using test::Value;
using test::with_count;

engine::Space constrained(const Value::Map& hyperparameters, std::vector<std::string> conditions) {
  engine::Space space = space_of(hyperparameters);
  engine::Problems problems;
  space.constrain(conditions, "where", problems);
  for (const engine::Problem& problem : problems) {
    ADD_FAILURE() << engine::describe(problem);
  }
  return space;
}

std::string problems_of(const ExperimentConfig& config) {
  engine::Problems problems;
  kind_of(config).check(config, problems);
  std::string text;
  for (const engine::Problem& problem : problems) {
    text += engine::describe(problem) + "\n";
  }
  return text;
}

/// Every configuration of a search whose trials end at once, the closer to (3, 3) the better.
std::vector<Value> configurations_of(const ExperimentConfig& config, std::size_t most = 1000) {
  const std::unique_ptr<Searcher> searcher = kind_of(config).make(config);
  std::vector<Value> all;
  for (;;) {
    const engine::Next next = searcher->next();
    const auto* create = std::get_if<CreateTrial>(&next);
    if (create == nullptr || all.size() == most) {
      return all;
    }
    all.push_back(create->hparams);
    const double loss = std::abs(create->hparams.at_path("a")->number_or(0) - 3) +
                        std::abs(create->hparams.at_path("b")->number_or(0) - 3);
    searcher->on_event(engine::TrialWasCreated{create->trial, create->hparams, create->length});
    searcher->on_event(engine::TrialValidated{create->trial, create->length, score(loss)});
    searcher->on_event(engine::TrialWasClosed{create->trial});
  }
}

TEST(Where, LeavesPointsOfAGridOut) {
  ExperimentConfig config = settings("grid", 1);
  config.space = constrained({{"a", with_count(int_range(1, 4), 4)}, {"b", with_count(int_range(1, 3), 3)}},
                             {"a * b <= 4", "a != 2"});
  EXPECT_EQ(problems_of(config), "");
  std::string points;
  for (const Value& point : configurations_of(config)) {
    points += engine::compact_json(*point.at_path("a")) + engine::compact_json(*point.at_path("b")) + " ";
  }
  EXPECT_EQ(points, "11 12 13 31 41 ");
  EXPECT_EQ(kind_of(config).preview(config).trials, 5U);
}

TEST(Where, MustLeaveAGridAPointAndFewToCheck) {
  ExperimentConfig config = settings("grid", 1);
  config.space = constrained({{"a", with_count(int_range(1, 4), 4)}}, {"a > 4"});
  EXPECT_EQ(problems_of(config),
            "where: is satisfied by none of the grid's 4 points (conditions that one of them satisfies)\n");
  config.space = constrained(
      {{"a", with_count(int_range(1, 200), 200)}, {"b", with_count(int_range(1, 101), 101)}}, {"a > b"});
  EXPECT_EQ(
      problems_of(config),
      "where: has a grid of 20200 points (a grid of at most 20000 points, those that `where` leaves out "
      "included)\n");
}

TEST(Where, NumbersThoseOfAFiniteSpaceThatAreAllowed) {
  const engine::Space space = constrained({{"a", int_range(0, 9)}, {"b", int_range(0, 9)}}, {"a < b"});
  const auto finite = FiniteSpace::of(space);
  ASSERT_TRUE(finite.has_value());
  EXPECT_EQ(finite->size(), 45U);
  std::set<std::string> seen;
  for (engine::Cardinality index = 0; index < finite->size(); ++index) {
    const Value configuration = finite->at(index);
    EXPECT_TRUE(space.allows(configuration));
    EXPECT_TRUE(seen.insert(engine::compact_json(configuration)).second);
    EXPECT_EQ(finite->index_of(configuration), index);
  }
  EXPECT_EQ(finite->index_of(Value::Map{{"a", 3}, {"b", 3}}), std::nullopt);
  EXPECT_FALSE(FiniteSpace::of(constrained({{"a", int_range(0, 20'000)}}, {"a > 1"})).has_value());
}

struct Case {
  const char* name;
  engine::SamplerName sampler;
};

class WhereOf : public testing::TestWithParam<Case> {};

// A third of the square, and its optimum at an edge of that.
TEST_P(WhereOf, SamplersIsSatisfiedByEveryTrial) {
  ExperimentConfig config = settings("random", 1, 60);
  config.space = constrained({{"a", double_range(0, 4)}, {"b", int_range(0, 4)}}, {"a + b <= 4", "a < 3.9"});
  config.searcher.sampler = GetParam().sampler;
  config.experiment_seed = 5;
  const std::vector<Value> all = configurations_of(config);
  ASSERT_EQ(all.size(), 60U);
  for (const Value& configuration : all) {
    EXPECT_TRUE(config.space.allows(configuration)) << engine::compact_json(configuration);
  }
  EXPECT_EQ(configurations_of(config), all);
}

TEST_P(WhereOf, SamplersWithoutDuplicatesEndsWithTheLastConfiguration) {
  ExperimentConfig config = settings("random", 1, 100);
  config.space = constrained({{"a", int_range(0, 4)}, {"b", int_range(0, 4)}}, {"a + b <= 4"});
  config.searcher.sampler = GetParam().sampler;
  config.searcher.on_duplicate = engine::OnDuplicate::reject;
  std::set<std::string> different;
  const std::vector<Value> all = configurations_of(config);
  for (const Value& configuration : all) {
    EXPECT_TRUE(config.space.allows(configuration)) << engine::compact_json(configuration);
    different.insert(engine::compact_json(configuration));
  }
  EXPECT_EQ(all.size(), 15U);
  EXPECT_EQ(different.size(), 15U);
  EXPECT_EQ(kind_of(config).preview(config).trials, 15U);
}

INSTANTIATE_TEST_SUITE_P(All, WhereOf,
                         testing::Values(Case{"Random", engine::SamplerName::random},
                                         Case{"Anneal", engine::SamplerName::anneal},
                                         Case{"Tpe", engine::SamplerName::tpe},
                                         Case{"Model", engine::SamplerName::model}),
                         [](const auto& instance) { return std::string(instance.param.name); });

/// Always proposes the same, whether it may or not.
class Stubborn final : public Sampler {
 public:
  explicit Stubborn(int& refusals) : refusals_(refusals) {}
  [[nodiscard]] Sample sample(TrialNumber /*trial*/, std::span<const Units> /*rungs*/,
                              const Taken& taken) const override {
    const Value wanted = Value::Map{{"a", 4}, {"b", 4}};
    refusals_ += taken && taken(wanted) ? 1 : 0;
    return {wanted};
  }

 private:
  int& refusals_;
};

TEST(Where, ASampleThatItLeavesOutIsReplacedByADraw) {
  ExperimentConfig config = settings("random", 1, 10);
  config.space = constrained({{"a", int_range(0, 4)}, {"b", int_range(0, 4)}}, {"a + b <= 4"});
  int refusals = 0;
  const std::unique_ptr<Searcher> searcher = make_random(config, std::make_unique<Stubborn>(refusals));
  const auto create = std::get<CreateTrial>(searcher->next());
  EXPECT_EQ(create.hparams, config.space.sample(config.experiment_seed, TrialNumber(0)));
  EXPECT_TRUE(config.space.allows(create.hparams));
  EXPECT_EQ(refusals, 1);
}

}  // namespace
}  // namespace hpsearch::searchers

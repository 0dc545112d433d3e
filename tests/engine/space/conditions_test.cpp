#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/space/formula.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::engine {
namespace {

Value integers(std::int64_t minval, std::int64_t maxval) {
  return Value::Map{{"type", "int"}, {"minval", minval}, {"maxval", maxval}};
}
Value choice(Value::List vals) {
  return Value::Map{{"type", "categorical"}, {"vals", std::move(vals)}};
}

Value network() {
  return Value::Map{{"layers", integers(1, 8)},
                    {"width", choice({128, 512, 2048})},
                    {"nesterov", choice({true, false})},
                    {"opt", Value::Map{{"lr", Value::Map{{"type", "log"}, {"minval", -4}, {"maxval", -1}}},
                                       {"name", choice({"sgd", "adam", "o'neill"})}}},
                    {"extra", choice({Value(), 1.0})}};
}

struct Constrained {
  Space space;
  std::string problems;
};

Constrained constrained(const std::vector<std::string>& conditions,
                        const Value& hyperparameters = network()) {
  Problems problems;
  Problems notes;
  Constrained made;
  made.space = Space::parse(hyperparameters, "hyperparameters", problems, notes);
  EXPECT_TRUE(problems.empty());
  made.space.constrain(conditions, "where", problems);
  for (const Problem& problem : problems) {
    made.problems += describe(problem) + "\n";
  }
  return made;
}

std::string problem_of(const std::string& condition) {
  return constrained({condition}).problems;
}

/// For 3 layers of 512, sgd with nesterov at 0.01.
bool holds(const std::string& condition) {
  const Constrained made = constrained({condition});
  EXPECT_EQ(made.problems, "");
  return made.space.allows(Value::Map{{"layers", 3},
                                      {"width", 512},
                                      {"nesterov", true},
                                      {"opt", Value::Map{{"lr", 0.01}, {"name", "sgd"}}},
                                      {"extra", 1.0}});
}

TEST(Condition, ComparesNumbers) {
  EXPECT_TRUE(holds("layers * width <= 1536"));
  EXPECT_FALSE(holds("layers * width < 1536"));
  EXPECT_TRUE(holds("layers >= 3"));
  EXPECT_FALSE(holds("layers > 3"));
  EXPECT_TRUE(holds("layers == 3"));
  EXPECT_FALSE(holds("layers != 3"));
  EXPECT_TRUE(holds("log(width) > 2 ^ 2 - -layers / 2"));
  EXPECT_TRUE(holds("hp.opt.lr < 0.1"));
  EXPECT_FALSE(holds("nan == nan"));
  EXPECT_TRUE(holds("nan != nan"));
}

TEST(Condition, FindsHyperparametersWhoseNamesHaveAMeaning) {
  const Value odd = Value::Map{{"hparams", Value::Map{{"lr", integers(1, 9)}}},
                               {"hp", Value::Map{{"units", integers(1, 9)}}},
                               {"exp", integers(1, 9)},
                               {"nesterov", choice({true, false})}};
  const auto allows = [&](const std::string& condition) {
    const Constrained made = constrained({condition}, odd);
    EXPECT_EQ(made.problems, "");
    return made.space.allows(Value::Map{{"hparams", Value::Map{{"lr", 3}}},
                                        {"hp", Value::Map{{"units", 4}}},
                                        {"exp", 5},
                                        {"nesterov", true}});
  };
  EXPECT_TRUE(allows("hparams.lr == 3 and hp.hparams.lr == 3"));
  EXPECT_TRUE(allows("hp.units == 4"));
  EXPECT_TRUE(allows("exp == 5 and exp(0) == 1"));
  EXPECT_TRUE(allows("nesterov == 'true'"));
}

TEST(Condition, JoinsConditions) {
  EXPECT_TRUE(holds("layers < 3 or width == 512"));
  EXPECT_FALSE(holds("layers < 3 or width == 512 and lr > 1"));
  EXPECT_TRUE(holds("(layers < 9 or width == 512) and lr < 1"));
  EXPECT_TRUE(holds("not layers < 3"));
  EXPECT_TRUE(holds("!(layers < 3) && (lr + 1) * 2 < 3 || layers == 8"));
  EXPECT_TRUE(holds("not not layers == 3 && width < 1000"));
  EXPECT_TRUE(holds("layers > 7 || not (layers > 5)"));
}

TEST(Condition, ComparesChoicesWithValues) {
  EXPECT_TRUE(holds("opt.name == 'sgd'"));
  EXPECT_TRUE(holds("name != 'adam'"));
  EXPECT_TRUE(holds("nesterov == true"));
  EXPECT_FALSE(holds("nesterov != true or name == 'adam'"));
  EXPECT_TRUE(holds("extra == 1"));
  EXPECT_TRUE(holds("extra != null and layers == 3"));
  EXPECT_TRUE(holds("\"nesterov\" == true"));
}

TEST(Condition, TakesOneEqualsSignAndValuesWithoutQuotes) {
  EXPECT_TRUE(holds("layers = 3 and name = sgd"));
  EXPECT_TRUE(holds("name == \"sgd\" AND NOT name != SGD")) << "capitals make no difference";
  EXPECT_TRUE(holds("nesterov = True"));
  EXPECT_FALSE(holds("extra = None"));
}

TEST(Condition, ComparesWithSeveralValues) {
  EXPECT_TRUE(holds("name in (adam, 'sgd')"));
  EXPECT_FALSE(holds("not name in (adam, 'sgd')"));
  EXPECT_TRUE(holds("width in (128, 2 * 256) and layers in (3)"));
  EXPECT_FALSE(holds("width in (128, 2048)"));
  EXPECT_NE(problem_of("2 * width in (128)").find("column 1: \"in\" needs one name"), std::string::npos);
  EXPECT_NE(problem_of("name in sgd").find("column 9: \"(\" is missing after in"), std::string::npos);
}

TEST(Condition, IsSplitWhereAndJoinsIt) {
  const Space space = constrained({}).space;
  const auto terms = [&](const std::string& text) {
    return Formula::parse_condition(text, Names(space.leaves()))->terms();
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(terms("layers < 3"), Texts({"layers < 3"}));
  EXPECT_EQ(terms(" (layers < 3 or width > 9)  and not lr < 1 && name = sgd "),
            Texts({"(layers < 3 or width > 9)", "not lr < 1", "name = sgd"}));
  EXPECT_EQ(terms("layers < 3 and width > 9 or lr < 1 and width < 9"),
            Texts({"layers < 3 and width > 9 or lr < 1 and width < 9"}));
}

TEST(Condition, ComparesListsByTheirJson) {
  const Value shapes = Value::Map{{"shape", choice({Value::List{64, 64}, Value::List{128}})}};
  Space space = constrained({"shape = '[64,64]'"}, shapes).space;
  EXPECT_TRUE(space.allows(Value::Map{{"shape", Value::List{64, 64}}}));
  EXPECT_FALSE(space.allows(Value::Map{{"shape", Value::List{128}}}));
}

TEST(Condition, ComparesWithNullWhereANameCanBeMissing) {
  const Space space = constrained({}).space;
  const Names names(space.leaves(), {Name{"metric", false, true, true}, Name{"failure", false, false, true}},
                    true);
  const auto holds_of = [&](const std::string& text, const Value& metric, const Value& failure) {
    const auto condition = Formula::parse_condition(text, names);
    EXPECT_TRUE(condition) << text << ": " << (condition ? "" : condition.error().message);
    return condition && condition->holds([&](std::size_t name) {
      return name == 0 ? metric : name == 1 ? failure : Value();
    });
  };
  EXPECT_TRUE(holds_of("metric = none and failure == null and name = null", {}, {}));
  EXPECT_FALSE(holds_of("metric < 1 or metric >= 1 or metric = 1", {}, {}));
  EXPECT_TRUE(holds_of("metric != 1 and name != sgd", {}, {}));
  EXPECT_TRUE(holds_of("metric != null and failure = 'exit code 1'", 0.5, "exit code 1"));
  EXPECT_FALSE(holds_of("failure = killed", 0.5, "exit code 1"));
  EXPECT_NE(problem_of("layers == null").find("there is no \"null\""), std::string::npos)
      << "every configuration has it";
}

TEST(Condition, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(problem_of("layers * width"),
            "where: is \"layers * width\": column 1: a number stands where a condition is expected, such as "
            "layers * width <= 4096\n");
  EXPECT_EQ(problem_of("layers * widht <= 4096"),
            "where: is \"layers * widht <= 4096\": column 10: there is no \"widht\"; did you mean "
            "\"width\"?\n");
  EXPECT_EQ(problem_of("trial < 3").find("trial < 3"), 11U) << "a variable of simulate alone";
  EXPECT_EQ(
      problem_of("layers < 3 and width"),
      "where: is \"layers < 3 and width\": column 16: a number stands where a condition is expected, such "
      "as layers * width <= 4096\n");
  EXPECT_EQ(problem_of("1 + (layers < 3) < 2"),
            "where: is \"1 + (layers < 3) < 2\": column 5: a condition stands where a number is expected\n");
  EXPECT_EQ(problem_of("1 < layers < 3"),
            "where: is \"1 < layers < 3\": column 12: compare two numbers at a time: 1 < layers and layers < "
            "8\n");
  EXPECT_EQ(problem_of("name == 'sdg'"),
            "where: is \"name == 'sdg'\": column 9: hp.opt.name is never \"sdg\" (it is one of "
            "[\"sgd\",\"adam\",\"o'neill\"])\n");
  EXPECT_EQ(problem_of("name =="),
            "where: is \"name ==\": column 8: a value of hp.opt.name is expected here (one of "
            "[\"sgd\",\"adam\",\"o'neill\"])\n");
  EXPECT_EQ(problem_of("name < 3"),
            "where: is \"name < 3\": column 1: \"opt.name\" is not always a number; compare it by ==, != or "
            "in with "
            "its values [\"sgd\",\"adam\",\"o'neill\"]\n");
  EXPECT_EQ(problem_of("layers ="),
            "where: is \"layers =\": column 9: the expression ends where a number, a name or \"(\" is "
            "expected\n");
  EXPECT_EQ(problem_of("layers 3"),
            "where: is \"layers 3\": column 8: \"3\" is not expected here (an operator or the end is)\n");
  EXPECT_EQ(problem_of(""),
            "where: is \"\": column 1: the expression ends where a number, a name or \"(\" is expected\n");
  EXPECT_EQ(
      constrained({"layers < 3", "width"}).problems,
      "where[1]: is \"width\": column 1: a number stands where a condition is expected, such as layers * "
      "width <= 4096\n");
}

TEST(Condition, RefusesToNestWithoutEnd) {
  EXPECT_NE(problem_of(std::string(100'000, '(')).find("nested more than"), std::string::npos);
  EXPECT_NE(problem_of(std::string(100'000, '!')).find("nested more than"), std::string::npos);
}

TEST(Condition, OnWhatAConfigurationLacksSaysNothing) {
  const Space space = constrained({"layers > 5", "width < 200"}).space;
  EXPECT_TRUE(space.allows(Value::Map{{"width", 128}}));
  EXPECT_FALSE(space.allows(Value::Map{{"width", 512}}));
}

TEST(Where, DrawsSatisfyEveryConditionAndAreFunctionsOfSeedAndTrial) {
  const Space space = constrained({"layers * width <= 1024", "name != 'adam' or lr < 0.01"}).space;
  const Space again = constrained({"layers * width <= 1024", "name != 'adam' or lr < 0.01"}).space;
  std::set<std::string> seen;
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    const Value drawn = space.sample(3, TrialNumber(trial));
    EXPECT_TRUE(space.allows(drawn)) << compact_json(drawn);
    EXPECT_EQ(drawn, again.sample(3, TrialNumber(trial)));
    seen.insert(compact_json(drawn));
  }
  EXPECT_GT(seen.size(), 150U);
}

TEST(Where, ADrawThatSatisfiesItIsTheOneWithoutIt) {
  const Space free = constrained({}).space;
  const Space space = constrained({"layers * width <= 4096"}).space;
  EXPECT_FALSE(free.is_constrained());
  std::size_t same = 0;
  for (std::uint64_t trial = 0; trial < 100; ++trial) {
    const Value drawn = free.sample(3, TrialNumber(trial));
    if (space.allows(drawn)) {
      ++same;
      EXPECT_EQ(space.sample(3, TrialNumber(trial)), drawn);
    } else {
      EXPECT_NE(space.sample(3, TrialNumber(trial)), drawn);
    }
  }
  EXPECT_GT(same, 50U);
}

TEST(Where, DrawsOfARareConditionAreFoundAndThoseOfNoneEnd) {
  const Value cube = Value::Map{{"a", integers(1, 10)}, {"b", integers(1, 10)}, {"c", integers(1, 10)}};
  const Space rare = constrained({"a == 7 and b == 7 and c == 7"}, cube).space;
  EXPECT_EQ(compact_json(rare.sample(1, TrialNumber(5))), R"({"a":7,"b":7,"c":7})");
  const Space none = constrained({"a > 10"}, cube).space;
  EXPECT_EQ(none.allowed_share().allowed, 0U);
  EXPECT_FALSE(none.allows(none.sample(1, TrialNumber(5))));
}

TEST(Where, IsCheckedInAConfiguration) {
  const Space space = constrained({"layers * width <= 1024", "opt.lr < 0.05"}).space;
  const Value point = Value::Map{{"layers", 3},
                                 {"width", 512},
                                 {"nesterov", true},
                                 {"opt", Value::Map{{"lr", 0.01}, {"name", "sgd"}}},
                                 {"extra", 1.0}};
  Problems problems;
  space.check(point, "points_to_evaluate[0]", problems);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(
      describe(problems[0]),
      "points_to_evaluate[0]: has layers 3, width 512 (what satisfies `where`: layers * width <= 1024)");
}

}  // namespace
}  // namespace hpsearch::engine

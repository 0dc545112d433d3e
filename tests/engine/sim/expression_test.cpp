#include "hpsearch/engine/sim/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "messages.hpp"

namespace hpsearch::engine::sim {
namespace {

Space space() {
  Problems problems;
  Problems notes;
  const Value::Map range{{"type", "double"}, {"minval", 0.0}, {"maxval", 1.0}};
  const Value tree =
      Value::Map{{"lr", range},
                 {"a", Value::Map{{"size", range}}},
                 {"b", Value::Map{{"size", range}}},
                 {"c.d", range},
                 {"batch-size", range},
                 {"层数", range},
                 {"layers", 3},
                 {"kind", Value::Map{{"type", "categorical"}, {"vals", Value::List{"x", "y"}}}}};
  Space parsed = Space::parse(tree, "hyperparameters", problems, notes);
  EXPECT_TRUE(problems.empty());
  return parsed;
}

/// For trial 7 after 9 units, at its second piece of work.
double value_of(const std::string& text) {
  const auto expression = Expression::parse(text, space());
  EXPECT_TRUE(expression.has_value()) << text << ": " << (expression ? "" : expression.error().message);
  const Value hparams = Value::Map{{"lr", 0.25},
                                   {"a", Value::Map{{"size", 2.0}}},
                                   {"b", Value::Map{{"size", 4.0}}},
                                   {"c.d", 0.125},
                                   {"batch-size", 32.0},
                                   {"层数", 6.0},
                                   {"layers", 3},
                                   {"kind", "x"}};
  return expression ? (*expression)->metric(Training{TrialNumber(7), hparams, 1}, Units{9}) : std::nan("");
}

std::string problem_of(const std::string& text) {
  const auto expression = Expression::parse(text, space());
  return expression ? "accepted" : expression.error().message;
}

TEST(Expression, FollowsThePrecedenceOfArithmetic) {
  EXPECT_DOUBLE_EQ(value_of("1 + 2 * 3"), 7);
  EXPECT_DOUBLE_EQ(value_of("(1 + 2) * 3"), 9);
  EXPECT_DOUBLE_EQ(value_of("10 - 4 - 3"), 3);
  EXPECT_DOUBLE_EQ(value_of("24 / 4 / 3"), 2);
  EXPECT_DOUBLE_EQ(value_of("2 ^ 3 ^ 2"), 512);
  EXPECT_DOUBLE_EQ(value_of("2 ** -1"), 0.5);
  EXPECT_DOUBLE_EQ(value_of("-2 ^ 2"), -4);
  EXPECT_DOUBLE_EQ(value_of("2 * -3"), -6);
  EXPECT_DOUBLE_EQ(value_of("--3"), 3);
  EXPECT_DOUBLE_EQ(value_of("1.5e-2 + .5"), 0.515);
}

TEST(Expression, KnowsTheTrialTheLengthAndTheOp) {
  EXPECT_DOUBLE_EQ(value_of("0.01*trial"), 0.07);
  EXPECT_DOUBLE_EQ(value_of("1/length + op"), 1.0 / 9 + 1);
}

TEST(Expression, KnowsHyperparametersByPathAndByTheirLastName) {
  EXPECT_DOUBLE_EQ(value_of("hp.lr"), 0.25);
  EXPECT_DOUBLE_EQ(value_of("lr + layers"), 3.25);
  EXPECT_DOUBLE_EQ(value_of("hp.a.size * b.size"), 8);
  EXPECT_DOUBLE_EQ(value_of("hp.c.d"), 0.125) << "a key may hold dots";
}

TEST(Expression, TakesAnyNameInQuotesAndLettersOfAnyLanguageWithout) {
  EXPECT_DOUBLE_EQ(value_of("hp.\"batch-size\" - 1"), 31);
  EXPECT_DOUBLE_EQ(value_of("2*\"batch-size\""), 64);
  EXPECT_DOUBLE_EQ(value_of("\"hp.lr\" + hp.\"a\".size"), 2.25);
  EXPECT_DOUBLE_EQ(value_of("hp.层数/层数"), 1);
  EXPECT_DOUBLE_EQ(value_of("1 + batch-size-lr"), 32.75) << "the whole name, then a difference";
  EXPECT_DOUBLE_EQ(value_of("hp.batch-size"), 32);
  EXPECT_EQ(problem_of("batch-sizes").substr(0, 29), "column 1: there is no \"batch\"");
  EXPECT_EQ(problem_of("1 + hp.\"lr"), "column 8: the quote that begins here does not end");
  EXPECT_EQ(problem_of("\"lrr\""), "column 1: there is no \"lrr\"; did you mean \"lr\"?");
  EXPECT_EQ(problem_of("\"trial\"").find("did you mean"), std::string::npos)
      << "what is quoted is a hyperparameter";
}

TEST(Expression, KnowsFunctions) {
  EXPECT_DOUBLE_EQ(value_of("abs(-2) + sqrt(9) + floor(2.9)"), 7);
  EXPECT_DOUBLE_EQ(value_of("log(exp(2))"), 2);
  EXPECT_DOUBLE_EQ(value_of("min(3, 1, 2) + max(1, 2)"), 3);
  EXPECT_DOUBLE_EQ(value_of("pi"), 3.141592653589793);
}

TEST(Expression, ComputesAsDoublesDo) {
  EXPECT_TRUE(std::isinf(value_of("1/0")));
  EXPECT_TRUE(std::isnan(value_of("log(-1)")));
  EXPECT_TRUE(std::isnan(value_of("min(1, nan)")));
  EXPECT_TRUE(std::isnan(value_of("max(nan, 1)")));
  EXPECT_TRUE(std::isinf(value_of("inf")));
}

TEST(Expression, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(problem_of(""), "column 1: the expression ends where a number, a name or \"(\" is expected");
  EXPECT_EQ(problem_of("1 + "), "column 5: the expression ends where a number, a name or \"(\" is expected");
  EXPECT_EQ(problem_of("(1 + 2"), "column 7: \")\" is missing");
  EXPECT_EQ(problem_of("1 2"), "column 3: \"2\" is not expected here (an operator or the end is)");
  EXPECT_EQ(problem_of("3 + $"), "column 5: \"$\" is not expected here (a number, a name or \"(\" is)");
  EXPECT_EQ(problem_of("0.1*trail"), "column 5: there is no \"trail\"; did you mean \"trial\"?");
  EXPECT_EQ(problem_of("accuracy"),
            "column 1: there is no \"accuracy\" (known: nan, inf, pi, abs(), sqrt(), "
            "exp(), log(), floor(), "
            "min(), max(), trial, length, op, hp.a.size, hp.b.size, hp.\"batch-size\", hp.c.d, hp.kind, "
            "hp.layers, hp.lr, hp.层数)");
  EXPECT_EQ(problem_of("size"), "column 1: \"size\" may mean hp.a.size or hp.b.size");
  EXPECT_EQ(problem_of("kind"), "column 1: \"kind\" is not always a number");
  EXPECT_EQ(problem_of("min(1)"), "column 1: min takes two or more arguments, not 1");
  EXPECT_EQ(problem_of("abs(1, 2)"), "column 1: abs takes one argument, not 2");
  EXPECT_EQ(problem_of("abs 1"), "column 5: abs is a function: \"(\" is missing");
  EXPECT_EQ(problem_of("1e999"), "column 1: this number is out of range");
}

TEST(Expression, RefusesToNestWithoutEnd) {
  EXPECT_MESSAGE(problem_of(std::string(100'000, '(')));
  EXPECT_MESSAGE(problem_of(std::string(100'000, '-')));
}

}  // namespace
}  // namespace hpsearch::engine::sim

#include <gtest/gtest.h>

#include <string>

#include "hpsearch/jobs/yaml/read_text.hpp"

// A parser stops behind a mistake, and says what it expected. People want the line of the mistake and its
// cure.

namespace hpsearch::yaml {
namespace {

std::string problem_of(const std::string& text) {
  const ReadText read = read_experiment_text(text, FileLimits{});
  return read.problems.empty() ? "" : to_text("f", read.problems.front());
}

TEST(UsualMistake, AKeyWithoutItsColon) {
  EXPECT_EQ(problem_of("name: x\nsearcher\n  name: random\n"),
            "f:2: is not YAML: there is no colon after \"searcher\" (searcher:)");
  EXPECT_EQ(problem_of("hyperparameters:\n  lr {type: log, base: 10}\n  x: 1\n"),
            "f:2: is not YAML: there is no colon after \"lr\" (lr:)");
}

TEST(UsualMistake, ALineThatIsIndentedMoreThanItsNeighbours) {
  EXPECT_EQ(problem_of("searcher:\n  name: random\n   metric: loss\n"),
            "f:3: is not YAML: it is indented by 3 spaces and line 2 by 2 (2 spaces)");
}

TEST(UsualMistake, ATabBeforeAKey) {
  EXPECT_EQ(problem_of("searcher:\n\tname: random\n"),
            "f:2: is not YAML: a tab indents it (spaces to indent, no tabs)");
}

TEST(UsualMistake, AColonInAValue) {
  EXPECT_EQ(problem_of("name: x\nentrypoint: echo a: b\n"),
            "f:2: is not YAML: its value has a colon and a blank in it (the value in quotes)");
}

TEST(UsualMistake, ABracketThatStaysOpen) {
  EXPECT_EQ(problem_of("hyperparameters:\n  lr: {type: log, base: 10\nsearcher:\n  name: random\n"),
            "f:2: is not YAML: its { is never closed (})");
}

TEST(UsualMistake, TextBelowItsKeyIsNoMistake) {
  EXPECT_EQ(problem_of("entrypoint: |\n  train\n  exit\nname: [a\n"),
            "f:4: is not YAML: its [ is never closed (])");
}

TEST(UsualMistake, OtherMistakesKeepTheMessageOfTheParser) {
  EXPECT_EQ(problem_of("a: *nothing\n"), "f:1: is not YAML: the referenced anchor is not defined");
}

}  // namespace
}  // namespace hpsearch::yaml

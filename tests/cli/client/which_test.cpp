#include "cli/client/which.hpp"

#include <gtest/gtest.h>

#include "messages.hpp"

namespace hpsearch::cli {
namespace {

using Words = std::vector<std::string>;

std::string read(const Words& words, About about) {
  const Outcome<Which> which = read_which(words, about);
  return which ? which->experiment.value_or("-") + " " +
                     (which->trial ? std::to_string(*which->trial) : std::string("-"))
               : which.failure().message;
}

TEST(Which, SingleWordDependsOnTheCommand) {
  EXPECT_EQ(read({"3"}, About::experiment), "3 -");
  EXPECT_EQ(read({"3"}, About::either), "3 -");
  EXPECT_EQ(read({"3"}, About::trial), "- 3");
  EXPECT_EQ(read({}, About::either), "- -");
}

TEST(Which, AnExperimentAndATrialAreTwoWordsOrOne) {
  for (const About about : {About::either, About::trial}) {
    EXPECT_EQ(read({"digits", "3"}, about), "digits 3");
    EXPECT_EQ(read({"digits/3"}, about), "digits 3");
    EXPECT_EQ(read({"a/digits.yaml/3"}, about), "a/digits.yaml 3");
  }
}

TEST(Which, AFileIsAnExperiment) {
  EXPECT_EQ(read({"a/digits.yaml"}, About::either), "a/digits.yaml -");
  EXPECT_EQ(read({"a/7"}, About::experiment), "a/7 -");
}

TEST(Which, ATrialIsANumber) {
  EXPECT_MESSAGE(read({"digits", "x"}, About::trial));
  EXPECT_MESSAGE(read({"digits"}, About::trial));
}

TEST(Which, ACheckpointHasThreeParts) {
  EXPECT_TRUE(names_checkpoint("1/0/1-9"));
  EXPECT_FALSE(names_checkpoint("1/0"));
  EXPECT_FALSE(names_checkpoint("a/b-c.yaml"));
}

}  // namespace
}  // namespace hpsearch::cli

#include "hpsearch/proto/views/trial_filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace hpsearch::views {
namespace {

using engine::Value;
using testing::ElementsAre;
using testing::HasSubstr;

bool holds(const std::string& text) {
  const auto filter = TrialFilter::read(text);
  EXPECT_TRUE(filter) << text << ": " << (filter ? "" : filter.error().message);
  return filter && filter->holds([](const std::string& name) {
    return name == "lr"           ? Value(0.005)
           : name == "layers"     ? Value(3)
           : name == "state"      ? Value("COMPLETED")
           : name == "opt.name"   ? Value("sgd")
           : name == "nesterov"   ? Value(true)
           : name == "batch-size" ? Value("32")
                                  : Value();
  });
}

std::string refusal(const std::string& text) {
  const auto filter = TrialFilter::read(text);
  return filter ? "" : filter.error().message;
}

TEST(TrialFilter, ComparesNumbersAsNumbers) {
  EXPECT_TRUE(holds("lr<0.01"));
  EXPECT_FALSE(holds("lr >= 1e-2"));
  EXPECT_TRUE(holds("layers=3.0"));
  EXPECT_TRUE(holds("layers>-1"));
  EXPECT_TRUE(holds("layers<=10")) << "and not as text, of which 10 is the smaller";
}

TEST(TrialFilter, ComparesTextsWhateverTheirCase) {
  EXPECT_TRUE(holds("state=completed"));
  EXPECT_TRUE(holds("opt.name != adam"));
  EXPECT_TRUE(holds("opt.name='sgd'"));
  EXPECT_TRUE(holds("nesterov = true"));
  EXPECT_TRUE(holds("batch-size = '32'"));
  EXPECT_FALSE(holds("batch-size = 32")) << "the text is not the number";
}

TEST(TrialFilter, JoinsAndBindsTighterThanOr) {
  EXPECT_TRUE(holds("layers=3 or lr=1 and lr=2"));
  EXPECT_FALSE(holds("(layers=3 or lr=1) and lr=2"));
  EXPECT_TRUE(holds("not (layers=4) and not lr>1"));
  EXPECT_TRUE(holds("NOT layers=4 AND layers=3"));
}

TEST(TrialFilter, WhatATrialDoesNotHaveIsUnlikeEverything) {
  EXPECT_FALSE(holds("metric<1"));
  EXPECT_FALSE(holds("metric>=1"));
  EXPECT_FALSE(holds("metric=1"));
  EXPECT_TRUE(holds("metric!=1"));
  EXPECT_TRUE(holds("metric=none"));
  EXPECT_FALSE(holds("lr=none"));
}

TEST(TrialFilter, NamesWhatItReads) {
  EXPECT_THAT(TrialFilter::read("a<1 and (b=2 or a>0)")->names(), ElementsAre("a", "b"));
  EXPECT_THAT(TrialFilter::read("android=1 or orange=2")->names(), ElementsAre("android", "orange"));
}

TEST(TrialFilter, SaysWhereItCannotBeRead) {
  EXPECT_THAT(refusal(""), HasSubstr("the end is where a name belongs"));
  EXPECT_THAT(refusal("lr"), HasSubstr("the end is where one of < <= > >= = != belongs"));
  EXPECT_THAT(refusal("lr ~ 3"), HasSubstr("\"~ 3\" is where one of"));
  EXPECT_THAT(refusal("lr<"), HasSubstr("the end is where a value belongs"));
  EXPECT_THAT(refusal("lr<1 layers=3"), HasSubstr("\"layers=3\" is where and, or, or the end belongs"));
  EXPECT_THAT(refusal("(lr<1"), HasSubstr("a closing parenthesis"));
  EXPECT_THAT(refusal("lr='x"), HasSubstr("a value"));
  EXPECT_THAT(refusal(std::string(200, '(')), HasSubstr("something less deep"));
  EXPECT_THAT(refusal("not " + std::string(300, '(') + "a=1"), HasSubstr("something less deep"));
  EXPECT_THAT(refusal(std::string(5000, 'a')), HasSubstr("longer than 4096 bytes"));
}

TEST(CompareValues, PutsNumbersBeforeTextsBeforeNothing) {
  EXPECT_EQ(compare_values(2, 10), -1);
  EXPECT_EQ(compare_values(2, 2.0), 0);
  EXPECT_EQ(compare_values(99, "a"), -1);
  EXPECT_EQ(compare_values(Value(), "a"), 1);
  EXPECT_EQ(compare_values("B", "a"), 1);
}

}  // namespace
}  // namespace hpsearch::views

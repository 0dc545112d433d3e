#include <gtest/gtest.h>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::engine {
namespace {

struct Parsed {
  Space space;
  std::string problems;  // One per line, as describe() has them.
  std::string notes;
};

std::string lines(const Problems& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    text += describe(problem) + "\n";
  }
  return text;
}

Parsed parse(const Value& hyperparameters) {
  Problems problems;
  Problems notes;
  Parsed parsed;
  parsed.space = Space::parse(hyperparameters, "hp", problems, notes);
  parsed.problems = lines(problems);
  parsed.notes = lines(notes);
  return parsed;
}

std::string paths(const Space& space) {
  std::string text;
  for (const Space::Leaf& leaf : space.leaves()) {
    text += leaf.path + " ";
  }
  return text;
}

TEST(SpaceParse, ReadsEveryType) {
  const Parsed parsed = parse(Value::Map{
      {"a", Value::Map{{"type", "const"}, {"val", Value::List{1, 2}}}},
      {"b", Value::Map{{"type", "int"}, {"minval", -3}, {"maxval", 1e3}, {"count", 4}}},
      {"c", Value::Map{{"type", "double"}, {"minval", 0}, {"maxval", 0.5}, {"count", nullptr}}},
      {"d", Value::Map{{"type", "log"}, {"base", 2}, {"minval", -5}, {"maxval", -1.5}}},
      {"e", Value::Map{{"type", "categorical"}, {"vals", Value::List{"x", 1, nullptr}}}},
  });
  EXPECT_EQ(parsed.problems + parsed.notes, "");
  ASSERT_EQ(parsed.space.leaves().size(), 5U);
  EXPECT_EQ(std::get<ConstParameter>(parsed.space.leaves()[0].parameter).val, Value(Value::List{1, 2}));
  const auto& integer = std::get<IntParameter>(parsed.space.leaves()[1].parameter);
  EXPECT_EQ(integer.minval, -3);
  EXPECT_EQ(integer.maxval, 1000);
  EXPECT_EQ(integer.count, 4U);
  const auto& real = std::get<DoubleParameter>(parsed.space.leaves()[2].parameter);
  EXPECT_EQ(real.maxval, 0.5);
  EXPECT_EQ(real.count, std::nullopt);
  const auto& exponent = std::get<LogParameter>(parsed.space.leaves()[3].parameter);
  EXPECT_EQ(exponent.base, 2.0);
  EXPECT_EQ(exponent.maxval, -1.5);
  EXPECT_EQ(std::get<CategoricalParameter>(parsed.space.leaves()[4].parameter).vals.size(), 3U);
}

TEST(SpaceParse, ReadsScalesStepsAndOrders) {
  const Parsed parsed = parse(Value::Map{
      {"a", Value::Map{{"type", "int"}, {"minval", 16}, {"maxval", 512}, {"scale", "log"}, {"step", 16}}},
      {"b", Value::Map{{"type", "double"}, {"minval", 0}, {"maxval", 1}, {"scale", "linear"}, {"step", 0.1}}},
      {"c", Value::Map{{"type", "categorical"}, {"vals", Value::List{"s", "m", "l"}}, {"ordered", true}}},
      {"d", Value::Map{{"type", "categorical"}, {"vals", Value::List{8, 16.5, 32}}}},
      {"e", Value::Map{{"type", "categorical"}, {"vals", Value::List{8, 32, 16}}}},
      {"f", Value::Map{{"type", "categorical"}, {"vals", Value::List{8, 16}}, {"ordered", false}}},
  });
  EXPECT_EQ(parsed.problems + parsed.notes, "");
  const auto& integer = std::get<IntParameter>(parsed.space.leaves()[0].parameter);
  EXPECT_EQ(integer.scale, Scale::log);
  EXPECT_EQ(integer.step, 16U);
  const auto& real = std::get<DoubleParameter>(parsed.space.leaves()[1].parameter);
  EXPECT_EQ(real.scale, Scale::linear);
  EXPECT_EQ(real.step, 0.1);
  EXPECT_EQ(real.maxval, 1.0);
  const auto ordered = [&](std::size_t leaf) {
    return std::get<CategoricalParameter>(parsed.space.leaves()[leaf].parameter).ordered;
  };
  EXPECT_TRUE(ordered(2));
  EXPECT_TRUE(ordered(3)) << "ascending numbers";
  EXPECT_FALSE(ordered(4));
  EXPECT_FALSE(ordered(5)) << "the file decides";
}

TEST(SpaceParse, EndsARangeAtItsLastStepAndSaysSo) {
  const Parsed parsed = parse(Value::Map{
      {"a", Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", 10}, {"step", 4}}},
      {"b", Value::Map{{"type", "double"}, {"minval", 0.05}, {"maxval", 0.4}, {"step", 0.1}}},
  });
  EXPECT_EQ(parsed.problems, "");
  EXPECT_EQ(parsed.notes,
            "hp.a.maxval: is 10, which is not a step from minval: 9 is the greatest value\n"
            "hp.b.maxval: is 0.4, which is not a step from minval: 0.35 is the greatest value\n");
  EXPECT_EQ(std::get<IntParameter>(parsed.space.leaves()[0].parameter).maxval, 9);
  EXPECT_EQ(std::get<DoubleParameter>(parsed.space.leaves()[1].parameter).maxval, 0.35);
}

TEST(SpaceParse, TakesBareValuesAsConstants) {
  const Parsed parsed = parse(Value::Map{{"a", 1},
                                         {"b", "x"},
                                         {"c", nullptr},
                                         {"d", Value::List{1, Value::Map{{"type", "int"}}}},
                                         {"e", Value::Map{}}});
  EXPECT_EQ(parsed.problems, "");
  for (const Space::Leaf& leaf : parsed.space.leaves()) {
    EXPECT_TRUE(is_constant(leaf.parameter)) << leaf.path;
  }
  EXPECT_EQ(compact_json(parsed.space.sample(0, TrialNumber{0})),
            R"({"a":1,"b":"x","c":null,"d":[1,{"type":"int"}],"e":{}})");
}

TEST(SpaceParse, OrdersLeavesByByteOnEveryLevel) {
  const Value range = Value::Map{{"type", "int"}, {"minval", 0}, {"maxval", 1}};
  const Parsed parsed = parse(Value::Map{{"b", range},
                                         {"a", Value::Map{{"z", range}, {"é", range}, {"Z", range}}},
                                         {"a-b", range},
                                         {"B", range}});
  EXPECT_EQ(paths(parsed.space), "B a.Z a.z a.é a-b b ");
}

TEST(SpaceParse, TakesNothingForAnEmptySpace) {
  EXPECT_TRUE(parse(Value()).space.leaves().empty());
  EXPECT_TRUE(parse(Value::Map{}).space.leaves().empty());
  EXPECT_EQ(parse(Value()).problems, "");
}

TEST(SpaceParse, ReadsValForValsAndSaysSo) {
  const Parsed parsed =
      parse(Value::Map{{"a", Value::Map{{"type", "categorical"}, {"val", Value::List{1, 2}}}}});
  EXPECT_EQ(parsed.problems, "");
  EXPECT_EQ(parsed.notes, "hp.a.val: read as `vals`\n");
  EXPECT_EQ(std::get<CategoricalParameter>(parsed.space.leaves()[0].parameter).vals.size(), 2U);
}

struct Refusal {
  const char* name;
  Value range;
  const char* problems;
};

class SpaceRefuses : public testing::TestWithParam<Refusal> {};

TEST_P(SpaceRefuses, AndSaysWhatIsWrong) {
  EXPECT_EQ(parse(Value::Map{{"a", GetParam().range}}).problems, GetParam().problems);
}

INSTANTIATE_TEST_SUITE_P(
    Ranges, SpaceRefuses,
    testing::Values(
        Refusal{"UnknownType", Value::Map{{"type", "integer"}, {"minval", 0}, {"maxval", 1}},
                "hp.a.type: is \"integer\" (one of const, int, double, log, categorical)\n"},
        Refusal{"MistypedType", Value::Map{{"type", "duoble"}, {"minval", 0}, {"maxval", 1}},
                "hp.a.type: is \"duoble\" (did you mean `double`? one of const, int, double, log, "
                "categorical)\n"},
        Refusal{"ConstantMapWithAType", Value::Map{{"type", "adam"}, {"lr", 0.1}},
                "hp.a.type: is \"adam\" (one of const, int, double, log, categorical; a constant map is "
                "{type: const, val: {\"lr\":0.1,\"type\":\"adam\"}})\n"},
        Refusal{"TypeThatIsNoText", Value::Map{{"type", 3}},
                "hp.a.type: is 3 (one of const, int, double, log, categorical)\n"},
        Refusal{"EqualBounds", Value::Map{{"type", "int"}, {"minval", 3}, {"maxval", 3}},
                "hp.a.maxval: is 3 (above minval, which is 3)\n"},
        Refusal{"TurnedBounds", Value::Map{{"type", "double"}, {"minval", 0.5}, {"maxval", 0.25}},
                "hp.a.maxval: is 0.25 (above minval, which is 0.5)\n"},
        Refusal{"IntWithFraction", Value::Map{{"type", "int"}, {"minval", 0.5}, {"maxval", 3}},
                "hp.a.minval: is 0.5 (an integer)\n"},
        Refusal{"NumberInQuotes", Value::Map{{"type", "double"}, {"minval", "0"}, {"maxval", 3}},
                "hp.a.minval: is \"0\" (a number)\n"},
        Refusal{"MissingBoth", Value::Map{{"type", "int"}},
                "hp.a.minval: is missing (an integer)\nhp.a.maxval: is missing (an integer)\n"},
        Refusal{"CountOfZero", Value::Map{{"type", "int"}, {"minval", 0}, {"maxval", 3}, {"count", 0}},
                "hp.a.count: is 0 (an integer of at least 1: the number of grid points)\n"},
        Refusal{"BaseOfZero", Value::Map{{"type", "log"}, {"base", 0}, {"minval", 0}, {"maxval", 3}},
                "hp.a.base: is 0.0 (a number above 0)\n"},
        Refusal{"BoundsForExponents",
                Value::Map{{"type", "log"}, {"base", 10}, {"minval", 1}, {"maxval", 1000}},
                "hp.a.maxval: is 1000.0 (an exponent; 10.0 to that power is not a usable number)\n"},
        Refusal{"EndlessWidth", Value::Map{{"type", "double"}, {"minval", -1e308}, {"maxval", 1e308}},
                "hp.a.maxval: is too far from minval (maxval - minval within the range of a double)\n"},
        Refusal{"NoVals", Value::Map{{"type", "categorical"}},
                "hp.a.vals: is missing (a list of at least one value)\n"},
        Refusal{"EmptyVals", Value::Map{{"type", "categorical"}, {"vals", Value::List{}}},
                "hp.a.vals: is [] (a list of at least one value)\n"},
        Refusal{"ValsThatAreNoList", Value::Map{{"type", "categorical"}, {"vals", "x"}},
                "hp.a.vals: is \"x\" (a list of at least one value)\n"},
        Refusal{"ConstWithoutVal", Value::Map{{"type", "const"}}, "hp.a.val: is missing (the value)\n"},
        Refusal{"MistypedField", Value::Map{{"type", "int"}, {"minval", 0}, {"maxval", 3}, {"maxvl", 4}},
                "hp.a.maxvl: is not a field of a hyperparameter of this type (did you mean `maxval`?)\n"},
        Refusal{"FieldOfAnotherType", Value::Map{{"type", "int"}, {"minval", 0}, {"maxval", 3}, {"base", 2}},
                "hp.a.base: is not a field of a hyperparameter of this type (one of count, maxval, minval, "
                "scale, step or when)\n"},
        Refusal{"AnotherScale", Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", 3}, {"scale", "log10"}},
                "hp.a.scale: is \"log10\" (linear or log)\n"},
        Refusal{"ZeroOnALogScale",
                Value::Map{{"type", "double"}, {"minval", 0}, {"maxval", 3}, {"scale", "log"}},
                "hp.a.minval: is 0.0 on a log scale (a number above 0)\n"},
        Refusal{"WideIntegersOnALogScale",
                Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", 9007199254740993}, {"scale", "log"}},
                "hp.a.maxval: is 9007199254740993 on a log scale (at most 2^53)\n"},
        Refusal{"StepOfZero", Value::Map{{"type", "double"}, {"minval", 0}, {"maxval", 3}, {"step", 0}},
                "hp.a.step: is 0 (a number above 0)\n"},
        Refusal{"HalfAStep", Value::Map{{"type", "int"}, {"minval", 0}, {"maxval", 3}, {"step", 0.5}},
                "hp.a.step: is 0.5 (an integer of at least 1)\n"},
        Refusal{"StepWiderThanTheRange",
                Value::Map{{"type", "int"}, {"minval", 2}, {"maxval", 5}, {"step", 4}},
                "hp.a.step: is 4 (at most maxval - minval, which is 3)\n"},
        Refusal{"StepsWithoutNumber",
                Value::Map{{"type", "double"}, {"minval", 0}, {"maxval", 1}, {"step", 1e-300}},
                "hp.a.step: is 1e-300 (a number that makes at most 2^53 values)\n"},
        Refusal{"StepOfExponents", Value::Map{{"type", "log"}, {"minval", -4}, {"maxval", -1}, {"step", 1}},
                "hp.a.step: is not a field of a hyperparameter of this type (one of base, count, maxval, "
                "minval or when)\n"},
        Refusal{"OrderThatIsNoBoolean",
                Value::Map{{"type", "categorical"}, {"vals", Value::List{1, 2}}, {"ordered", "yes"}},
                "hp.a.ordered: is \"yes\" (true or false)\n"},
        Refusal{"NamelessMember", Value::Map{{"", 1}},
                "hp.a: holds a hyperparameter without a name (a name)\n"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(SpaceParse, NamesEveryProblemAtOnce) {
  const Parsed parsed = parse(Value::Map{
      {"a", Value::Map{{"type", "int"}, {"minval", 3}, {"maxval", 1}, {"count", -1}}},
      {"net", Value::Map{{"b", Value::Map{{"type", "flaot"}}}, {"c", Value::Map{{"type", "categorical"}}}}},
  });
  EXPECT_EQ(
      parsed.problems,
      "hp.a.count: is -1 (an integer of at least 1: the number of grid points)\n"
      "hp.a.maxval: is 1 (above minval, which is 3)\n"
      "hp.net.b.type: is \"flaot\" (one of const, int, double, log, categorical; a constant map is {type: "
      "const, val: {\"type\":\"flaot\"}})\n"
      "hp.net.c.vals: is missing (a list of at least one value)\n");
}

TEST(SpaceParse, RefusesNamesThatMeetWhenJoined) {
  EXPECT_EQ(parse(Value::Map{{"a.b", 1}, {"a", Value::Map{{"b", 2}}}}).problems,
            "hp.a.b: is named twice, once with a dot inside a name (names that stay different when nested "
            "names are "
            "joined by dots)\n");
}

TEST(SpaceParse, RefusesWhatIsNoMap) {
  EXPECT_EQ(parse(Value("lr")).problems, "hp: is \"lr\" (a map of hyperparameters)\n");
}

// --- check and settle ---

Space example() {
  return parse(Value::Map{
                   {"batch", Value::Map{{"type", "categorical"}, {"vals", Value::List{32, 64}}}},
                   {"layers", Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", 4}}},
                   {"opt",
                    Value::Map{{"lr", Value::Map{{"type", "log"}, {"minval", -4}, {"maxval", -1}}},
                               {"momentum", Value::Map{{"type", "double"}, {"minval", 0}, {"maxval", 1}}},
                               {"name", "sgd"}}},
               })
      .space;
}

std::string checked(const Value& configuration) {
  Problems problems;
  example().check(configuration, "point", problems);
  return lines(problems);
}

TEST(SpaceCheck, TakesWhatLiesInside) {
  EXPECT_EQ(checked(Value::Map{{"batch", 64},
                               {"layers", 4},
                               {"opt", Value::Map{{"lr", 0.0001}, {"momentum", 1}, {"name", "sgd"}}}}),
            "");
}

TEST(SpaceCheck, NamesEverythingThatIsWrong) {
  EXPECT_EQ(checked(Value::Map{{"batch", 48},
                               {"layer", 2},
                               {"opt", Value::Map{{"lr", 1}, {"momentum", "high"}, {"name", "adam"}}}}),
            "point.batch: is 48 (one of [32,64])\n"
            "point.layers: is missing (a value)\n"
            "point.opt.lr: is 1 (a number from 0.0001 to 0.1)\n"
            "point.opt.momentum: is \"high\" (a number from 0.0 to 1.0)\n"
            "point.opt.name: is \"adam\" (only \"sgd\")\n"
            "point.layer: is not a hyperparameter of this experiment (did you mean `layers`?)\n");
}

TEST(SpaceCheck, NamesTheNearestStep) {
  const Space space =
      parse(Value::Map{
                {"a", Value::Map{{"type", "int"}, {"minval", 16}, {"maxval", 64}, {"step", 16}}},
                {"b", Value::Map{{"type", "double"}, {"minval", 0}, {"maxval", 1}, {"step", 0.1}}},
            })
          .space;
  const auto found = [&](Value a, Value b) {
    Problems problems;
    space.check(Value::Map{{"a", std::move(a)}, {"b", std::move(b)}}, "point", problems);
    return lines(problems);
  };
  EXPECT_EQ(found(48, 0.3), "");
  EXPECT_EQ(found(48.0, 0.1 + 0.2), "");
  EXPECT_EQ(found(45, 0.56),
            "point.a: is 45 (an integer from 16 to 64 in steps of 16; the nearest is 48)\n"
            "point.b: is 0.56 (a number from 0.0 to 1.0 in steps of 0.1; the nearest is 0.6)\n");
  EXPECT_EQ(found(80, "x"),
            "point.a: is 80 (an integer from 16 to 64 in steps of 16)\n"
            "point.b: is \"x\" (a number from 0.0 to 1.0 in steps of 0.1)\n");
}

TEST(SpaceCheck, WantsGroupsToBeMaps) {
  EXPECT_EQ(checked(Value::Map{{"batch", 32}, {"layers", 1}, {"opt", 0.1}}), "point.opt: is 0.1 (a map)\n");
  EXPECT_EQ(checked(Value::Map{{"batch", 32}, {"layers", 1}}), "point.opt: is missing (a map)\n");
  EXPECT_EQ(checked(Value(3)), "point: is 3 (a map of hyperparameters)\n");
}

TEST(SpaceSettle, FillsConstantsAndTypesNumbers) {
  const Value settled = example().complete(
      Value::Map{{"batch", 64.0}, {"layers", 2.0}, {"opt", Value::Map{{"lr", 0.01}, {"momentum", 1}}}});
  EXPECT_EQ(compact_json(settled),
            R"({"batch":64,"layers":2,"opt":{"lr":0.01,"momentum":1.0,"name":"sgd"}})");
}

TEST(SpaceSettle, SpellsConstantsAsTheSpaceDoes) {
  const Space space =
      parse(Value::Map{{"momentum", 1.0}, {"opt", Value::Map{{"steps", 3}}}, {"x", "a"}}).space;
  const Value given = Value::Map{{"momentum", 1}, {"opt", Value::Map{{"steps", 3.0}}}, {"x", "a"}};
  EXPECT_EQ(compact_json(space.complete(given)), R"({"momentum":1.0,"opt":{"steps":3},"x":"a"})");
  const Value other = Value::Map{{"momentum", 2}, {"opt", Value::Map{{"steps", "3"}}}, {"x", 1}};
  EXPECT_EQ(space.complete(other), other) << "check() refuses it";
}

TEST(SpaceSettle, LeavesWhatDoesNotFitToCheck) {
  const Value wrong = Value::Map{{"batch", 48}, {"layers", 2.5}, {"opt", "sgd"}};
  EXPECT_EQ(example().complete(wrong), wrong);
  EXPECT_EQ(example().complete(Value(3)), Value(3));
}

}  // namespace
}  // namespace hpsearch::engine

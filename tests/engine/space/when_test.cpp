// Conditions of hyperparameters, against a slow reference that enumerates. rapidcheck prints the seed of
// every run; RC_PARAMS="seed=…" repeats it.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/space/combinations.hpp"
#include "hpsearch/engine/space/hparam_table.hpp"
#include "hpsearch/engine/space/space.hpp"
#include "property.hpp"

namespace hpsearch::engine {
namespace {

Value::Map one_of(Value::List vals) {
  return {{"type", "categorical"}, {"vals", std::move(vals)}};
}
Value::Map integers(std::int64_t minval, std::int64_t maxval) {
  return {{"type", "int"}, {"minval", minval}, {"maxval", maxval}};
}
Value::Map reals(double minval, double maxval) {
  return {{"type", "double"}, {"minval", minval}, {"maxval", maxval}};
}
Value::Map when(Value::Map parameter, Value::Map condition) {
  parameter["when"] = std::move(condition);
  return parameter;
}

Space parsed(const Value& hyperparameters, std::string* problems = nullptr) {
  Problems found;
  Problems notes;
  Space space = Space::parse(hyperparameters, "hp", found, notes);
  std::string text;
  for (const Problem& problem : found) {
    text += describe(problem) + "\n";
  }
  if (problems != nullptr) {
    *problems = text;
  } else {
    EXPECT_EQ(text, "");
  }
  return space;
}

std::string problems_of(const Space& space, const Value& configuration) {
  Problems problems;
  space.check(configuration, "hp", problems);
  std::string text;
  for (const Problem& problem : problems) {
    text += describe(problem) + "\n";
  }
  return text;
}

Space optimizers() {
  return parsed(Value::Map{
      {"optimizer", one_of({"sgd", "nesterov", "adam"})},
      {"momentum", when(reals(0, 1), {{"optimizer", Value::List{"sgd", "nesterov"}}})},
      {"adam", Value::Map{{"when", Value::Map{{"optimizer", "adam"}}},
                          {"beta", reals(0.9, 1)},
                          {"amsgrad", when(one_of({true, false}), {{"layers", Value::List{2, 3}}})}}},
      {"eps", when(one_of({1, 2}), {{"adam.amsgrad", true}})},
      {"layers", integers(1, 4)},
  });
}

// --- examples ---

TEST(SpaceConditions, ATrialHasItsActiveHyperparametersAlone) {
  const Space space = optimizers();
  std::set<std::string> shapes;
  for (std::uint64_t trial = 0; trial < 300; ++trial) {
    const Value drawn = space.sample(3, TrialNumber(trial));
    const std::string optimizer = *drawn.at_path("optimizer")->as_text();
    const std::int64_t layers = *drawn.at_path("layers")->as_integer();
    const bool adam = optimizer == "adam";
    const bool amsgrad = adam && (layers == 2 || layers == 3);
    EXPECT_EQ(drawn.at_path("momentum") != nullptr, !adam);
    EXPECT_EQ(drawn.at_path("adam") != nullptr, adam);  // No empty map is left.
    EXPECT_EQ(drawn.at_path("adam.beta") != nullptr, adam);
    EXPECT_EQ(drawn.at_path("adam.amsgrad") != nullptr, amsgrad);
    EXPECT_EQ(drawn.at_path("eps") != nullptr, amsgrad && *drawn.at_path("adam.amsgrad")->as_bool());
    EXPECT_EQ(problems_of(space, drawn), "");
    EXPECT_EQ(space.complete(drawn), drawn);
    shapes.insert(std::to_string(drawn.as_map()->size()));
  }
  EXPECT_EQ(shapes.size(), 2U);  // Momentum or the map of adam; eps besides.
}

TEST(SpaceConditions, AreSpelledForPeople) {
  const Space space = optimizers();
  const auto text_of = [&](std::string_view path) {
    for (std::size_t i = 0; i < space.leaves().size(); ++i) {
      if (space.leaves()[i].path == path) {
        return space.when_text(i);
      }
    }
    return std::string("no such leaf");
  };
  EXPECT_EQ(text_of("momentum"), "optimizer is sgd or nesterov");
  EXPECT_EQ(text_of("adam.amsgrad"), "optimizer is adam, and layers is 2 or 3");
  EXPECT_EQ(text_of("eps"), "adam.amsgrad is true");
  EXPECT_EQ(text_of("layers"), "");
}

TEST(SpaceConditions, AnInactiveHyperparameterThatIsGivenIsAProblem) {
  const Space space = optimizers();
  EXPECT_EQ(
      problems_of(
          space,
          Value::Map{
              {"optimizer", "sgd"}, {"momentum", 0.5}, {"layers", 2}, {"adam", Value::Map{{"beta", 0.95}}}}),
      "hp.adam.beta: is 0.95, and this configuration does not have it (left out, except where optimizer "
      "is adam)\n");
  EXPECT_EQ(
      problems_of(space,
                  Value::Map{{"optimizer", "sgd"}, {"momentum", 0.5}, {"layers", 2}, {"adam", Value::Map()}}),
      "hp.adam: is {}, and this configuration does not have it (left out, except where optimizer is "
      "adam, and layers is 2 or 3)\n");
}

TEST(SpaceConditions, AnActiveHyperparameterIsRequired) {
  const Space space = optimizers();
  EXPECT_EQ(problems_of(space, Value::Map{{"optimizer", "sgd"}, {"layers", 2}}),
            "hp.momentum: is missing (a value)\n");
  EXPECT_EQ(problems_of(space, Value::Map{{"optimizer", "adam"}, {"layers", 1}}),
            "hp.adam: is missing (a map)\n");
}

TEST(SpaceConditions, AWrongParentIsTheOnlyProblem) {
  const Space space = optimizers();
  EXPECT_EQ(problems_of(space, Value::Map{{"optimizer", "sdg"}, {"layers", 2}}),
            "hp.optimizer: is \"sdg\" (one of [\"sgd\",\"nesterov\",\"adam\"])\n");
  EXPECT_EQ(problems_of(space, Value::Map{{"momentum", 0.5}, {"layers", 2}}),
            "hp.optimizer: is missing (a value)\n");
}

TEST(SpaceConditions, OnlyActiveConstantsAreFilledIn) {
  const Space space = parsed(Value::Map{
      {"optimizer", one_of({"sgd", "adam"})},
      {"nesterov", when({{"type", "const"}, {"val", true}}, {{"optimizer", "sgd"}})},
      {"warmup", when({{"type", "const"}, {"val", 5}}, {{"nesterov", true}})},
  });
  EXPECT_EQ(space.complete(Value::Map{{"optimizer", "sgd"}}),
            Value(Value::Map{{"optimizer", "sgd"}, {"nesterov", true}, {"warmup", 5}}));
  EXPECT_EQ(space.complete(Value::Map{{"optimizer", "adam"}}), Value(Value::Map{{"optimizer", "adam"}}));
  EXPECT_EQ(problems_of(space, Value::Map{{"optimizer", "adam"}}), "");
}

TEST(SpaceConditions, ValuesTakeTheTypeOfTheirHyperparameter) {
  const Space space = parsed(Value::Map{{"a", one_of({64, 64.5})},
                                        {"b", when(integers(0, 1), {{"a", 64.0}})},
                                        {"n", integers(1, 3)},
                                        {"m", when(integers(0, 1), {{"n", Value::List{2.0, 2, 3}}})}});
  EXPECT_EQ(problems_of(space, Value::Map{{"a", 64}, {"b", 0}, {"n", 2.0}, {"m", 1}}), "");
  EXPECT_EQ(space.leaves()[2].when[0].values, (std::vector<Value>{2, 3}));
}

TEST(SpaceConditions, GridHasEachDifferentCombinationOnce) {
  const Space space = parsed(Value::Map{
      {"depth", when(one_of({1, 2}), {{"model", "tree"}})},
      {"model", one_of({"tree", "line"})},
      {"seed", one_of({7, 8})},
  });
  std::vector<std::string> points;
  for (Cardinality i = 0; i < space.grid_size().value(); ++i) {
    points.push_back(compact_json(space.grid_point(i)));
  }
  EXPECT_EQ(points, (std::vector<std::string>{
                        R"({"depth":1,"model":"tree","seed":7})", R"({"depth":1,"model":"tree","seed":8})",
                        R"({"depth":2,"model":"tree","seed":7})", R"({"depth":2,"model":"tree","seed":8})",
                        R"({"model":"line","seed":7})", R"({"model":"line","seed":8})"}));
}

TEST(SpaceConditions, ConditionsOfAGroupAndItsMemberMustBothHold) {
  const Space space = parsed(Value::Map{
      {"model", one_of({"tree", "forest", "line"})},
      {"trees", Value::Map{{"when", Value::Map{{"model", Value::List{"tree", "forest"}}}},
                           {"depth", when(one_of({1, 2}), {{"model", Value::List{"forest", "line"}}})}}},
  });
  std::vector<std::string> points;
  for (Cardinality i = 0; i < space.grid_size().value(); ++i) {
    points.push_back(compact_json(space.grid_point(i)));
  }
  EXPECT_EQ(points,
            (std::vector<std::string>{R"({"model":"tree"})", R"({"model":"forest","trees":{"depth":1}})",
                                      R"({"model":"forest","trees":{"depth":2}})", R"({"model":"line"})"}));
}

TEST(SpaceConditions, HugeGridsAreCountedWithoutThem) {
  Value::Map map{{"n", integers(1, 1'000'000'000'000)}};
  map["n"].as_map()->operator[]("count") = std::int64_t{1'000'000'000'000};
  map["x"] = when(one_of({"a", "b", "c"}), {{"n", Value::List{5, 999'999'999'999}}});
  const Space space = parsed(map);
  EXPECT_EQ(to_text(space.grid_size().value()), "1000000000004");
  EXPECT_EQ(compact_json(space.grid_point(3)), R"({"n":4})");
  EXPECT_EQ(compact_json(space.grid_point(6)), R"({"n":5,"x":"c"})");
  EXPECT_EQ(compact_json(space.grid_point(7)), R"({"n":6})");
  EXPECT_EQ(compact_json(space.grid_point(1'000'000'000'002)), R"({"n":999999999999,"x":"c"})");
  EXPECT_EQ(compact_json(space.grid_point(1'000'000'000'003)), R"({"n":1000000000000})");
}

// Two hundred independent conditions and a chain of fifty take no time.
TEST(SpaceConditions, ManyConditionsAreCounted) {
  Value::Map map;
  for (int i = 0; i < 40; ++i) {
    const std::string number = std::to_string(i);
    map["kind" + number] = one_of({"a", "b"});
    map["size" + number] = when(one_of({1, 2, 3}), {{"kind" + number, "b"}});
  }
  EXPECT_EQ(to_text(*parsed(map).cardinality()), to_text(Cardinality{1} << 80U));  // (1 + 3)^40
  Value::Map chain{{"p00", one_of({0, 1})}};
  for (int i = 1; i < 50; ++i) {
    const auto name = [](int at) { return (at < 10 ? "p0" : "p") + std::to_string(at); };
    chain[name(i)] = when(one_of({0, 1}), {{name(i - 1), 1}});
  }
  EXPECT_EQ(to_text(*parsed(chain).cardinality()), "51");
}

TEST(SpaceConditions, TableKeepsAbsentHyperparametersInItsWords) {
  const Space space =
      parsed(Value::Map{{"optimizer", one_of({"sgd", "adam"})},
                        {"zero", one_of({0.0, 1.0})},
                        {"momentum", when(one_of({0.5}), {{"optimizer", "sgd"}})},
                        {"fixed", when({{"type", "const"}, {"val", 3}}, {{"optimizer", "adam"}})}});
  HparamTable table(space);
  // A zero that lost its sign was packed into words.
  table.push_back(Value::Map{{"optimizer", "adam"}, {"zero", -0.0}, {"fixed", 3}});
  table.push_back(Value::Map{{"optimizer", "sgd"}, {"zero", -0.0}, {"momentum", 0.5}});
  EXPECT_EQ(compact_json(table[0]), R"({"fixed":3,"optimizer":"adam","zero":0.0})");
  EXPECT_EQ(compact_json(table[1]), R"({"momentum":0.5,"optimizer":"sgd","zero":0.0})");
  // What does not fit the conditions is kept as it came.
  const Value with_both = Value::Map{{"optimizer", "adam"}, {"zero", -0.0}, {"momentum", 0.5}, {"fixed", 3}};
  const Value without = Value::Map{{"optimizer", "sgd"}, {"zero", -0.0}};
  table.push_back(with_both);
  table.push_back(without);
  EXPECT_EQ(compact_json(table[2]), compact_json(with_both));
  EXPECT_EQ(compact_json(table[3]), compact_json(without));
}

TEST(SpaceConditions, WhenThatIsNoMapOrOutsideGroupsIsAHyperparameter) {
  const Space space =
      parsed(Value::Map{{"data", Value::Map{{"when", "2020"}}}, {"when", Value::Map{{"a", 1}}}});
  ASSERT_EQ(space.leaves().size(), 2U);
  EXPECT_EQ(space.leaves()[0].path, "data.when");
  EXPECT_EQ(space.leaves()[1].path, "when.a");
  EXPECT_FALSE(space.is_conditional());
}

// --- what is refused ---

struct Refused {
  const char* name;
  Value::Map hyperparameters;
  const char* problems;
};

class ConditionsRefused : public testing::TestWithParam<Refused> {};

TEST_P(ConditionsRefused, AndSaysWhatIsWrong) {
  std::string problems;
  parsed(GetParam().hyperparameters, &problems);
  EXPECT_EQ(problems, GetParam().problems);
}

INSTANTIATE_TEST_SUITE_P(
    All, ConditionsRefused,
    testing::Values(
        Refused{"NoMap",
                {{"a", one_of({1, 2})}, {"b", Value::Map{{"type", "const"}, {"val", 1}, {"when", "a"}}}},
                "hp.b.when: is \"a\" (a map of hyperparameters and their values, such as {optimizer: [sgd, "
                "nesterov]})\n"},
        Refused{"EmptyMap",
                {{"a", when(integers(0, 3), {})}},
                "hp.a.when: is {} (a map of hyperparameters and their values, such as {optimizer: [sgd, "
                "nesterov]})\n"},
        Refused{
            "UnknownParent",
            {{"optimizer", one_of({1})}, {"b", when(integers(0, 3), {{"optimiser", 1}})}},
            "hp.b.when.optimiser: is not a hyperparameter of this experiment (did you mean `optimizer`?)\n"},
        Refused{
            "Group",
            {{"net", Value::Map{{"kind", "x"}}}, {"b", when(integers(0, 3), {{"net", "x"}})}},
            "hp.b.when.net: names a group of hyperparameters (one of its members by its full name, such as "
            "net.kind)\n"},
        Refused{
            "RealParent",
            {{"a", reals(0, 1)}, {"b", when(integers(0, 3), {{"a", 0.5}})}},
            "hp.b.when.a: names a range of real numbers without a step (a const, an int, a categorical or a "
            "double with a step: their values can be listed)\n"},
        Refused{"ImpossibleValue",
                {{"a", one_of({"sgd", "adam"})},
                 {"b", when(integers(0, 3), {{"a", Value::List{"adam", "sdg"}}})}},
                "hp.b.when.a: is \"sdg\" (one of [\"sgd\",\"adam\"])\n"},
        Refused{"IntOutOfRange",
                {{"a", integers(1, 4)}, {"b", when(integers(0, 3), {{"a", 5}})}},
                "hp.b.when.a: is 5 (an integer from 1 to 4)\n"},
        Refused{"OtherConstant",
                {{"a", true}, {"b", when(integers(0, 3), {{"a", false}})}},
                "hp.b.when.a: is false (only true)\n"},
        Refused{"NoValues",
                {{"a", one_of({1})}, {"b", when(integers(0, 3), {{"a", Value::List()}})}},
                "hp.b.when.a: is [] (at least one value)\n"},
        Refused{"Itself",
                {{"a", when(integers(0, 3), {{"a", 1}})}},
                "hp.a.when.a: makes a depend on itself (another hyperparameter)\n"},
        Refused{
            "Circle",
            {{"a", when(one_of({1, 2}), {{"b", 1}})},
             {"b", when(one_of({1, 2}), {{"c", 1}})},
             {"c", when(one_of({1, 2}), {{"a", 1}})}},
            "hp.a.when: is part of a circle: a depends on b, b depends on c, c depends on a (conditions on "
            "hyperparameters that do not depend on this one)\n"},
        Refused{
            "NeverActive",
            {{"a", one_of({1, 2})},
             {"b", when(one_of({1, 2}), {{"a", 1}})},
             {"c", when(integers(0, 3), {{"a", 2}, {"b", 1}})}},
            "hp.c.when: never holds: no trial would have c (values that the named hyperparameters have at "
            "the same time)\n"},
        Refused{"GroupOfNothing",
                {{"a", one_of({1, 2})}, {"g", Value::Map{{"when", Value::Map{{"a", 1}}}}}},
                "hp.g.when: stands in a group without hyperparameters (a group with members, or a map with "
                "`type`)\n"}),
    [](const auto& instance) { return std::string(instance.param.name); });

// Each of 24 hyperparameters with two values decides about one behind all of them.
TEST(SpaceConditions, EntangledConditionsAreRefused) {
  Value::Map map;
  for (char name = 'a'; name < 'y'; ++name) {
    map[std::string(1, name)] = one_of({0, 1});
  }
  for (char name = 'a'; name < 'y'; ++name) {
    Value::Map two{{std::string(1, name), 1}, {"y", 1}};
    map["z" + std::string(1, name)] = when(one_of({0, 1}), std::move(two));
  }
  map["y"] = one_of({0, 1});
  std::string problems;
  parsed(map, &problems);
  EXPECT_EQ(problems,
            "hp: have conditions with too many outcomes at once (fewer conditions on different "
            "hyperparameters)\n");
}

// --- against the reference ---

struct Drawn {
  std::string path;
  Value parameter;  // Without conditions.
  std::vector<std::pair<std::size_t, std::vector<Value>>> when;

  [[nodiscard]] Space alone() const {
    Value tree = Value::Map();
    Value* here = &tree;
    const std::size_t dot = path.find('.');
    if (dot != std::string::npos) {
      *here = Value::Map{{path.substr(0, dot), Value::Map()}};
      here = here->as_map()->find(path.substr(0, dot));
    }
    (*here->as_map())[dot == std::string::npos ? path : path.substr(dot + 1)] = parameter;
    return parsed(tree);
  }
};

Value any_parameter(bool real_too) {
  switch (*rc::gen::inRange(0, real_too ? 7 : 6)) {
    case 0:
      return *rc::gen::element<Value>(Value(3), Value("x"), Value(true));
    case 1: {
      const auto low = *rc::gen::inRange<std::int64_t>(-2, 3);
      Value::Map range = integers(low, low + *rc::gen::inRange<std::int64_t>(1, 4));
      range["count"] = *rc::gen::inRange<std::int64_t>(1, 5);
      return range;
    }
    case 2:
      return one_of(*rc::gen::element(Value::List{true, false}, Value::List{"u", "v", "w"},
                                      Value::List{1, 1.0, 2}, Value::List{"u", "u", "v"}));
    case 3:
      return one_of({0, 1});
    case 4: {
      Value::Map range = reals(0.1, 0.4);
      range["step"] = 0.1;
      return range;
    }
    case 5: {
      Value::Map range = integers(1, 9);
      range["scale"] = "log";
      range["count"] = *rc::gen::inRange<std::int64_t>(1, 5);
      return range;
    }
    default: {
      Value::Map range = reals(0, 2);
      range["count"] = *rc::gen::inRange<std::int64_t>(1, 4);
      return range;
    }
  }
}

std::vector<Value> values_of(const Value& parameter) {
  const Value::Map* map = parameter.as_map();
  if (map == nullptr) {
    return {parameter};
  }
  if (const Value* vals = map->find("vals")) {
    return *vals->as_list();
  }
  std::vector<Value> values;
  if (*map->find("type")->as_text() == "int") {
    for (std::int64_t i = *map->find("minval")->as_integer(); i <= *map->find("maxval")->as_integer(); ++i) {
      values.emplace_back(i);
    }
  }
  if (map->contains("step")) {
    values = {0.1, 0.2, 0.3, 0.4};
  }
  return values;
}

/// Hyperparameters in the order of their names; parents may stand anywhere.
struct Searched {
  std::vector<Drawn> all;
  Space space;
  std::vector<std::size_t> depth_first;  // Parents first, as the documentation says it.

  [[nodiscard]] bool active(std::size_t i, const std::vector<Value>& values) const {
    return std::all_of(all[i].when.begin(), all[i].when.end(), [&](const auto& condition) {
      const auto& [parent, allowed] = condition;
      return active(parent, values) &&
             std::find(allowed.begin(), allowed.end(), values[parent]) != allowed.end();
    });
  }
  [[nodiscard]] Value configuration(const std::vector<Value>& values) const {
    Value made = Value::Map();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!active(i, values)) {
        continue;
      }
      const std::size_t dot = all[i].path.find('.');
      Value* group = &made;
      if (dot != std::string::npos) {
        group = &(*made.as_map())[all[i].path.substr(0, dot)];
        if (group->is_null()) {
          *group = Value::Map();
        }
      }
      (*group->as_map())[dot == std::string::npos ? all[i].path : all[i].path.substr(dot + 1)] = values[i];
    }
    return made;
  }
  void place(std::size_t i, std::set<std::size_t>& placed) {
    placed.insert(i);
    depth_first.push_back(i);
    for (std::size_t child = 0; child < all.size(); ++child) {
      bool ready = !placed.contains(child);
      bool of_this = false;
      for (const auto& [parent, values] : all[child].when) {
        ready = ready && placed.contains(parent);
        of_this = of_this || parent == i;
      }
      if (ready && of_this) {
        place(child, placed);
      }
    }
  }
};

/// Nothing where the conditions drawn leave a hyperparameter that is never active, which is checked.
std::optional<Searched> any_search(bool real_too) {
  Searched search;
  const std::size_t count = *rc::gen::inRange<std::size_t>(1, 7);
  const std::vector<std::string> names = {"a", "b.x", "b.y", "c", "d.z", "e", "f"};
  for (std::size_t i = 0; i < count; ++i) {
    search.all.push_back({names[i], any_parameter(real_too), {}});
  }
  std::vector<std::size_t> rank(count);
  for (std::size_t i = 0; i < count; ++i) {
    rank[i] = i;
  }
  for (std::size_t i = count; i > 1; --i) {
    std::swap(rank[i - 1], rank[*rc::gen::inRange<std::size_t>(0, i)]);
  }
  Value::Map tree;
  Value::Map groups[2];
  for (std::size_t i = 0; i < count; ++i) {
    Drawn& one = search.all[i];
    Value::Map conditions;
    for (std::size_t parent = 0; parent < count; ++parent) {
      const std::vector<Value> possible = values_of(search.all[parent].parameter);
      if (rank[parent] >= rank[i] || possible.empty() || *rc::gen::inRange(0, 3) != 0) {
        continue;
      }
      Value::List some;
      for (const Value& value : possible) {
        if (*rc::gen::arbitrary<bool>()) {
          some.push_back(value);
        }
      }
      if (some.empty()) {
        some.push_back(possible.front());
      }
      one.when.emplace_back(parent, some);
      conditions[search.all[parent].path] =
          some.size() == 1 && *rc::gen::arbitrary<bool>() ? some[0] : Value(some);
    }
    Value written = one.parameter;
    if (!conditions.empty()) {
      if (written.as_map() == nullptr) {
        written = Value::Map{{"type", "const"}, {"val", written}};
      }
      (*written.as_map())["when"] = conditions;
    }
    const std::size_t dot = one.path.find('.');
    (dot == std::string::npos ? tree : groups[one.path[0] == 'b' ? 0 : 1])[one.path.substr(dot + 1)] =
        written;
  }
  for (const int group : {0, 1}) {
    if (!groups[group].empty()) {
      tree[group == 0 ? "b" : "d"] = groups[group];
    }
  }
  std::string problems;
  search.space = parsed(tree, &problems);
  std::set<std::size_t> placed;
  for (std::size_t i = 0; i < count; ++i) {
    if (search.all[i].when.empty()) {
      search.place(i, placed);
    }
  }
  // Every combination of values, to see what is ever active.
  std::vector<bool> reached(count, false);
  std::vector<Value> values(count);
  const auto walk = [&](const auto& self, std::size_t i) -> void {
    if (i == count) {
      for (std::size_t leaf = 0; leaf < count; ++leaf) {
        reached[leaf] = reached[leaf] || search.active(leaf, values);
      }
      return;
    }
    std::vector<Value> possible = values_of(search.all[i].parameter);
    if (possible.empty()) {
      possible.emplace_back(0.5);
    }
    for (Value& value : possible) {
      values[i] = value;
      self(self, i + 1);
    }
  };
  walk(walk, 0);
  const bool all_reached = std::find(reached.begin(), reached.end(), false) == reached.end();
  RC_ASSERT(all_reached == problems.empty());
  return all_reached ? std::optional(std::move(search)) : std::nullopt;
}

/// Fewer cases than elsewhere: each enumerates a space.
#define HPSEARCH_SOME_CASES(suite, name)                               \
  static void property_##suite##_##name();                             \
  TEST(suite, name) {                                                  \
    ::hpsearch::test::check_property(300, &property_##suite##_##name); \
  }                                                                    \
  static void property_##suite##_##name()

HPSEARCH_SOME_CASES(SpaceConditionsProperty, DrawsAreTheOwnDrawsOfWhatIsActive) {
  const std::optional<Searched> search = any_search(true);
  if (!search) {
    return;
  }
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  HparamTable table(search->space);
  std::vector<Value> all;
  for (std::uint64_t trial = 0; trial < 20; ++trial) {
    std::vector<Value> values;
    for (const Drawn& one : search->all) {
      values.push_back(*one.alone().sample(seed, TrialNumber(trial)).at_path(one.path));
    }
    const Value drawn = search->space.sample(seed, TrialNumber(trial));
    RC_ASSERT(compact_json(drawn) == compact_json(search->configuration(values)));
    RC_ASSERT(problems_of(search->space, drawn) == "");
    RC_ASSERT(search->space.complete(drawn) == drawn);
    table.push_back(drawn);
    all.push_back(drawn);

    const std::vector<double> unit = search->space.to_unit(drawn);
    const Value back = search->space.from_unit(unit);
    RC_ASSERT(search->space.to_unit(back) == unit);
    RC_ASSERT(search->space.active_in(back) == search->space.active_in(drawn));
    RC_ASSERT(problems_of(search->space, back) == "");
    for (std::size_t i = 0; i < search->all.size(); ++i) {
      RC_ASSERT(search->space.active_in(drawn)[i] == search->active(i, values));
      RC_ASSERT((drawn.at_path(search->all[i].path) != nullptr) == search->active(i, values));
    }
  }
  for (std::size_t trial = 0; trial < all.size(); ++trial) {
    RC_ASSERT(compact_json(table[trial]) == compact_json(all[trial]));
  }
}

HPSEARCH_SOME_CASES(SpaceConditionsProperty, WhatIsMissingOrTooMuchIsFound) {
  const std::optional<Searched> search = any_search(true);
  if (!search) {
    return;
  }
  std::vector<Value> values;
  for (const Drawn& one : search->all) {
    values.push_back(*one.alone().sample(7, TrialNumber(1)).at_path(one.path));
  }
  for (std::size_t i = 0; i < search->all.size(); ++i) {
    const std::string& path = search->all[i].path;
    const std::size_t dot = path.find('.');
    Value changed = search->configuration(values);
    Value& group = dot == std::string::npos ? changed : (*changed.as_map())[path.substr(0, dot)];
    if (group.is_null()) {
      group = Value::Map();
    }
    const std::string key = path.substr(dot == std::string::npos ? 0 : dot + 1);
    if (search->active(i, values)) {
      group.as_map()->erase(key);
    } else {
      (*group.as_map())[key] = values[i];
    }
    RC_ASSERT(problems_of(search->space, changed) != "");
  }
}

HPSEARCH_SOME_CASES(SpaceConditionsProperty, UnitCoordinatesGiveConfigurations) {
  const std::optional<Searched> search = any_search(true);
  if (!search) {
    return;
  }
  std::vector<double> unit = search->space.to_unit(search->space.sample(1, TrialNumber{0}));
  for (double& coordinate : unit) {
    coordinate = *rc::gen::inRange(-2, 13) / 10.0;
  }
  const Value made = search->space.from_unit(unit);
  RC_ASSERT(problems_of(search->space, made) == "");
  RC_ASSERT(compact_json(search->space.from_unit(search->space.to_unit(made))) == compact_json(made));
}

HPSEARCH_SOME_CASES(SpaceConditionsProperty, GridIsTheDifferentCombinationsInOrder) {
  const std::optional<Searched> search = any_search(true);
  if (!search) {
    return;
  }
  std::vector<std::vector<Value>> axes;
  for (const Drawn& one : search->all) {
    const Space alone = one.alone();
    axes.emplace_back();
    for (Cardinality i = 0; i < alone.grid_size().value(); ++i) {
      axes.back().push_back(*alone.grid_point(i).at_path(one.path));
    }
  }
  std::vector<std::string> expected;
  std::vector<Value> values(search->all.size());
  const auto walk = [&](const auto& self, std::size_t at) -> void {
    if (at == search->depth_first.size()) {
      expected.push_back(compact_json(search->configuration(values)));
      return;
    }
    const std::size_t leaf = search->depth_first[at];
    if (!search->active(leaf, values)) {
      self(self, at + 1);
      return;
    }
    for (const Value& value : axes[leaf]) {
      values[leaf] = value;
      self(self, at + 1);
    }
  };
  walk(walk, 0);
  RC_ASSERT(search->space.grid_size().value() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    RC_ASSERT(compact_json(search->space.grid_point(i)) == expected[i]);
  }
}

HPSEARCH_SOME_CASES(SpaceConditionsProperty, CardinalityIsTheNumberOfDifferentConfigurations) {
  const std::optional<Searched> search = any_search(false);
  if (!search) {
    return;
  }
  std::set<std::string> all;
  std::vector<Value> values(search->all.size());
  const auto walk = [&](const auto& self, std::size_t i) -> void {
    if (i == values.size()) {
      all.insert(compact_json(search->configuration(values)));
      return;
    }
    for (Value& value : values_of(search->all[i].parameter)) {
      values[i] = value;
      self(self, i + 1);
    }
  };
  walk(walk, 0);
  RC_ASSERT(search->space.cardinality() == Cardinality{all.size()});
}

}  // namespace
}  // namespace hpsearch::engine

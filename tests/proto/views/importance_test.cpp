#include "hpsearch/proto/views/importance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "messages.hpp"

namespace hpsearch::views {
namespace {

/// A study of ped_anova.txt, with Optuna's importances.
struct Study {
  std::string name;
  std::vector<double> losses;
  std::vector<ImportanceInput> inputs;
  std::map<std::string, double> shares;
};

engine::Parameter parameter_of(std::istringstream& line) {
  std::string kind;
  line >> kind;
  if (kind == "cat") {
    std::int64_t count = 0;
    line >> count;
    engine::CategoricalParameter categorical;
    for (std::int64_t i = 0; i < count; ++i) {
      categorical.vals.emplace_back(i);
    }
    return categorical;
  }
  double low = 0;
  double high = 0;
  line >> low >> high;
  if (kind == "int") {
    engine::IntParameter it;
    it.minval = static_cast<std::int64_t>(low);
    it.maxval = static_cast<std::int64_t>(high);
    return it;
  }
  engine::DoubleParameter it;
  it.minval = low;
  it.maxval = high;
  it.scale = kind == "log" ? engine::Scale::log : engine::Scale::linear;
  return it;
}

std::vector<Study> studies() {
  std::ifstream file(PED_ANOVA_FIXTURES);
  EXPECT_TRUE(file.good()) << PED_ANOVA_FIXTURES;
  std::vector<Study> all;
  double sign = 1;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string word;
    std::string name;
    line >> word;
    if (word == "study") {
      line >> name >> word;
      sign = word == "minimize" ? 1 : -1;
      all.emplace_back().name = name;
    } else if (word == "parameter") {
      line >> name;
      all.back().inputs.push_back({parameter_of(line), name, {}});
    } else if (word == "result") {
      double value = 0;
      line >> value;
      all.back().losses.push_back(sign * value);
      for (ImportanceInput& input : all.back().inputs) {
        line >> value;
        input.values.push_back(value);
      }
    } else if (word == "share") {
      line >> name;
      line >> all.back().shares[name];
    }
  }
  return all;
}

TEST(Importance, AgreesWithOptuna) {
  const std::vector<Study> all = studies();
  ASSERT_EQ(all.size(), 7U);
  for (const Study& study : all) {
    const std::vector<double> shares = ped_anova(study.losses, study.inputs);
    std::vector<std::pair<double, std::string>> ours;
    std::vector<std::pair<double, std::string>> theirs;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const std::string& name = study.inputs[i].name;
      EXPECT_NEAR(shares[i], study.shares.at(name), 0.0001) << study.name << " " << name;
      ours.emplace_back(-shares[i], name);
      theirs.emplace_back(-study.shares.at(name), name);
    }
    std::sort(ours.begin(), ours.end());
    std::sort(theirs.begin(), theirs.end());
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(ours[i].second, theirs[i].second) << study.name << ", place " << i;
    }
  }
}

TEST(Importance, SharesAddUpToOneEvenIfAllAreEqual) {
  engine::DoubleParameter range;
  range.maxval = 1;
  const std::vector<ImportanceInput> inputs = {{range, "a", std::vector<double>(40, 0.5)},
                                               {range, "b", std::vector<double>(40, 0.5)}};
  const std::vector<double> shares = ped_anova(std::vector<double>(40, 1.0), inputs);
  EXPECT_DOUBLE_EQ(shares[0] + shares[1], 1);
  EXPECT_DOUBLE_EQ(shares[0], 0.5);
}

TEST(Importance, InactiveValuesDoNotCount) {
  engine::DoubleParameter range;
  range.maxval = 1;
  std::vector<double> losses;
  ImportanceInput always{range, "always", {}};
  ImportanceInput sometimes{range, "sometimes", {}};
  for (int i = 0; i < 100; ++i) {
    losses.push_back(i);
    always.values.push_back(i / 100.0);
    sometimes.values.push_back(i % 2 == 0 ? 0.5 : std::numeric_limits<double>::quiet_NaN());
  }
  const std::vector<double> shares = ped_anova(losses, {always, sometimes});
  EXPECT_GT(shares[0], 0.8);
  EXPECT_TRUE(std::isfinite(shares[1]));
}

/// The results of a search that mostly tried learning rates near the best one, 0.01.
struct Concentrated {
  engine::Space space;
  std::vector<double> losses;
  std::vector<ImportanceInput> inputs;
};

Concentrated concentrated() {
  Concentrated search;
  engine::Problems problems;
  engine::Problems notes;
  search.space = engine::Space::parse(
      engine::Value::Map{
          {"lr", engine::Value::Map{{"type", "log"}, {"base", 10}, {"minval", -5}, {"maxval", 0}}},
          {"momentum", engine::Value::Map{{"type", "double"}, {"minval", 0}, {"maxval", 1}}},
          {"width", engine::Value::Map{{"type", "int"}, {"minval", 8}, {"maxval", 128}}}},
      "", problems, notes);
  EXPECT_TRUE(problems.empty());
  for (const engine::Space::Leaf& leaf : search.space.leaves()) {
    search.inputs.push_back({leaf.parameter, leaf.path, {}});
  }
  engine::Draw draw(3, engine::TrialNumber(0), "concentrated");
  for (int i = 0; i < 120; ++i) {
    const double exponent = i % 6 == 0 ? -5 + 5 * draw.unit() : -2 + 0.3 * (draw.unit() - 0.5);
    const double momentum = draw.unit();
    const double width = std::floor(8 + 121 * draw.unit());
    search.losses.push_back((exponent + 2) * (exponent + 2) + 0.2 * momentum + 0.001 * width);
    for (ImportanceInput& input : search.inputs) {
      input.values.push_back(input.name == "lr"         ? std::pow(10.0, exponent)
                             : input.name == "momentum" ? momentum
                                                        : width);
    }
  }
  return search;
}

// Once, the sampler's preferences were compared with each other, and the learning rate came last.
TEST(Importance, PreferencesOfTheSamplerDoNotHideAHyperparameter) {
  const Concentrated search = concentrated();
  const auto share_of_lr = [&](const auto& shares, const auto& mean_of) {
    for (std::size_t i = 0; i < search.inputs.size(); ++i) {
      if (search.inputs[i].name == "lr") {
        return mean_of(shares[i]);
      }
    }
    return 0.0;
  };
  EXPECT_LT(share_of_lr(ped_anova(search.losses, search.inputs), [](double share) { return share; }), 0.5);
  const auto shares = shares_of_forest(search.losses, search.inputs, search.space);
  EXPECT_GT(share_of_lr(shares, [](const Share& share) { return share.mean; }), 0.7);
  for (const Share& share : shares) {
    EXPECT_GE(share.deviation, 0);
    EXPECT_LT(share.deviation, 0.2);
  }
}

TEST(Importance, FewResultsHaveAWideDeviation) {
  Concentrated search = concentrated();
  const auto of_first = [&](std::size_t count) {
    std::vector<double> losses(search.losses.begin(),
                               search.losses.begin() + static_cast<std::ptrdiff_t>(count));
    std::vector<ImportanceInput> inputs = search.inputs;
    for (ImportanceInput& input : inputs) {
      input.values.resize(count);
    }
    double sum = 0;
    for (const Share& share : shares_of_draws(losses, inputs)) {
      sum += share.deviation;
    }
    return sum;
  };
  EXPECT_GT(of_first(12), 1.5 * of_first(120));
}

RungLadder::Rung rung_of(std::uint64_t length, std::vector<std::pair<std::uint64_t, double>> results) {
  RungLadder::Rung rung;
  rung.length = engine::Units(length);
  for (const auto& [trial, metric] : results) {
    rung.results.push_back({engine::TrialNumber(trial), metric, RungLadder::Fate::stopped, {}});
  }
  return rung;
}

TEST(Importance, TrialsStoppedEarlierCountAsWorse) {
  const Concentrated search = concentrated();
  Columns columns;
  for (const ImportanceInput& input : search.inputs) {
    columns.columns.push_back({input.name, ColumnType::f64, false, {}, input.values, {}});
  }
  std::vector<std::pair<std::uint64_t, double>> all;
  for (std::uint64_t trial = 0; trial < 120; ++trial) {
    all.emplace_back(trial, search.losses[trial]);
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  RungLadder ladder;
  ladder.metric = "loss";
  ladder.brackets.push_back({"bracket 0", {rung_of(1, all), rung_of(9, {all.begin(), all.begin() + 12})}});
  const std::string json = importance_json(ladder, columns, search.space, std::nullopt, false);
  EXPECT_NE(json.find("\"length\":9,\"results\":12,\"others\":108"), std::string::npos) << json;
  ladder.brackets[0].rungs[1].results.resize(9);
  const std::string few = importance_json(ladder, columns, search.space, 1, false);
  EXPECT_MESSAGE(few);
  const std::string usual = importance_json(ladder, columns, search.space, std::nullopt, false);
  EXPECT_NE(usual.find("\"length\":1,\"results\":120,\"others\":0"), std::string::npos) << usual;
  EXPECT_NE(usual.find("\"name\":\"lr\""), usual.find("\"name\":")) << "it is compared with what was drawn";
  const std::string learnt = importance_json(ladder, columns, search.space, std::nullopt, true);
  EXPECT_EQ(learnt.find("\"name\":\"lr\""), learnt.find("\"name\":")) << learnt;
}

}  // namespace
}  // namespace hpsearch::views

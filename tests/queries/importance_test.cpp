#include "hpsearch/queries/importance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace hpsearch::queries {
namespace {

/// A study of ped_anova.txt, which genuine Optuna judged.
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

TEST(Importance, SharesAddUpToOneAlsoWhereAllIsEqual) {
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

}  // namespace
}  // namespace hpsearch::queries

// The surrogate compared with outputs of its original network. Its data are not part of the project.

#include "cli/surrogates/lcbench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::surrogates {
namespace {

using engine::TrialNumber;
using engine::Units;
using engine::Value;

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class LcBenchData : public testing::Test {
 protected:
  void SetUp() override {
    const char* directory = std::getenv("HPSEARCH_LCBENCH_DIR");
    if (directory == nullptr || *directory == '\0') {
      GTEST_SKIP() << "HPSEARCH_LCBENCH_DIR does not name the directory of the LCBench surrogate's data";
    }
    directory_ = directory;
    manifest_ = read(directory_ + "/lcbench_manifest.json");
    weights_ = read(directory_ + "/lcbench_weights.f32");
    auto model = LcBench::read(manifest_, std::as_bytes(std::span(weights_)));
    ASSERT_TRUE(model.has_value()) << model.error().message;
    model_ = std::make_shared<const LcBench>(std::move(*model));
  }

  std::string directory_;
  std::string manifest_;
  std::string weights_;
  std::shared_ptr<const LcBench> model_;
};

TEST_F(LcBenchData, MatchesTheNetwork) {
  std::istringstream vectors(read(directory_ + "/lcbench_test_vectors.csv"));
  std::string line;
  std::getline(vectors, line);
  ASSERT_TRUE(
      line.starts_with("instance,epoch,batch_size,learning_rate,momentum,weight_decay,num_layers,max_units,"
                       "max_dropout,time,val_accuracy"));
  int compared = 0;
  while (std::getline(vectors, line)) {
    std::istringstream cells(line);
    std::vector<std::string> cell;
    for (std::string text; std::getline(cells, text, ',');) {
      cell.push_back(text);
    }
    ASSERT_EQ(cell.size(), 15U) << line;
    const auto instance = model_->find(cell[0]);
    ASSERT_TRUE(instance.has_value()) << cell[0];
    LcBench::Configuration configuration{};
    for (std::size_t i = 0; i < configuration.size(); ++i) {
      configuration[i] = std::stod(cell[2 + i]);
    }
    LcBench::Epoch epoch;
    model_->evaluate(*instance, configuration, std::stoull(cell[1]), std::span(&epoch, 1));
    const float given[] = {epoch.time,
                           epoch.val_accuracy,
                           epoch.val_cross_entropy,
                           epoch.val_balanced_accuracy,
                           epoch.test_cross_entropy,
                           epoch.test_balanced_accuracy};
    for (std::size_t i = 0; i < 6; ++i) {
      const double wanted = std::stod(cell[9 + i]);
      EXPECT_NEAR(given[i], wanted, 1e-4 * std::fabs(wanted)) << line << ", output " << i;
    }
    ++compared;
  }
  EXPECT_EQ(compared, 312);
}

TEST_F(LcBenchData, EpochsTogetherEqualEpochsOneByOne) {
  const LcBench::Configuration configuration{64, 0.01, 0.9, 1e-3, 3, 200, 0.3};
  std::vector<LcBench::Epoch> together(LcBench::epochs);
  model_->evaluate(0, configuration, 1, together);
  for (std::uint64_t epoch = 1; epoch <= LcBench::epochs; ++epoch) {
    LcBench::Epoch alone;
    model_->evaluate(0, configuration, epoch, std::span(&alone, 1));
    EXPECT_NEAR(together[epoch - 1].val_accuracy, alone.val_accuracy, 1e-3);
    EXPECT_NEAR(together[epoch - 1].time, alone.time, 1e-3 * std::fabs(alone.time));
  }
}

TEST_F(LcBenchData, EpochsTakeAMinimumTime) {
  engine::Problems problems;
  engine::Problems notes;
  const engine::Space space = engine::Space::parse(LcBench::space(), "hyperparameters", problems, notes);
  ASSERT_TRUE(problems.empty());
  LcBenchCurves curves(model_, 3);
  for (std::uint64_t number = 0; number < 50; ++number) {
    const Value hparams = space.sample(1, TrialNumber(number));
    const engine::sim::Training training{TrialNumber(number), hparams, 0};
    ASSERT_TRUE(curves.covers(training));
    std::vector<LcBench::Epoch> epochs(LcBench::epochs);
    model_->evaluate(3, *LcBench::configuration_of(hparams), 1, epochs);
    double longest = 0;
    for (const LcBench::Epoch& epoch : epochs) {
      longest = std::max(longest, static_cast<double>(epoch.time));
    }
    double clock = 0;
    for (std::uint64_t epoch = 1; epoch <= LcBench::epochs; ++epoch) {
      const double next = std::max(clock, static_cast<double>(epochs[epoch - 1].time));
      EXPECT_NEAR(curves.seconds(training, Units{epoch - 1}, Units{epoch}),
                  std::max(next - clock, 0.05 * longest / 52), 1e-6);
      clock = next;
      EXPECT_DOUBLE_EQ(curves.metric(training, Units{epoch}),
                       static_cast<double>(epochs[epoch - 1].val_accuracy));
    }
  }
}

TEST_F(LcBenchData, DetectsDamagedFiles) {
  const auto problem = [](const std::string& manifest, const std::string& weights) {
    const auto model = LcBench::read(manifest, std::as_bytes(std::span(weights)));
    return model ? std::string("accepted") : model.error().message;
  };
  EXPECT_NE(problem(manifest_, weights_.substr(4)).find("weights have 2130620 bytes"), std::string::npos);
  EXPECT_NE(problem("{", weights_).find("the surrogate's manifest"), std::string::npos);
  std::string renamed = manifest_;
  renamed.replace(renamed.find("block1_b\""), 9, "block9_b\"");
  EXPECT_NE(problem(renamed, weights_).find("the array block1_b is missing"), std::string::npos);
}

TEST(LcBench, NamesTheHyperparameterThatDoesNotFit) {
  const auto problem = [](Value::Map hparams) {
    const auto configuration = LcBench::configuration_of(hparams);
    return configuration ? std::string("accepted") : configuration.error().message;
  };
  Value::Map good{{"batch_size", 15.6}, {"learning_rate", 0.1}, {"momentum", 0.5},   {"weight_decay", 1e-5},
                  {"num_layers", 5},    {"max_units", 1024.4},  {"max_dropout", 1.0}};
  EXPECT_EQ(problem(good), "accepted");
  good["num_layers"] = 6;
  EXPECT_EQ(problem(good), "the surrogate needs the hyperparameter num_layers, a number from 1 to 5, not 6");
  good.erase("num_layers");
  EXPECT_EQ(problem(good),
            "the surrogate needs the hyperparameter num_layers, a number from 1 to 5; it is missing");
}

TEST(LcBench, EverySampleOfItsSpaceIsAConfiguration) {
  engine::Problems problems;
  engine::Problems notes;
  const engine::Space space = engine::Space::parse(LcBench::space(), "hyperparameters", problems, notes);
  ASSERT_TRUE(problems.empty());
  for (std::uint64_t trial = 0; trial < 5000; ++trial) {
    const auto configuration = LcBench::configuration_of(space.sample(9, TrialNumber(trial)));
    ASSERT_TRUE(configuration.has_value()) << configuration.error().message;
  }
}

}  // namespace
}  // namespace hpsearch::surrogates

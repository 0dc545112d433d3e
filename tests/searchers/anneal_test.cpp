#include "hpsearch/searchers/anneal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "settings.hpp"

namespace hpsearch::searchers {
namespace {

using engine::ExitReason;
using engine::Reason;
using engine::Score;
using engine::TrialNumber;
using test::double_range;
using test::ExperimentConfig;
using test::int_range;
using test::score;
using test::settings;
using test::space_of;
using test::Units;
using test::Value;

const std::vector<Units> rungs{Units{1}};

/// A sampler that has heard of trials.
class Heard {
 public:
  explicit Heard(const ExperimentConfig& config) : sampler_(make_anneal_sampler(config)) {}

  /// The next trial, with this result.
  void result(const Value& hparams, Score reported) {
    const TrialNumber trial(created_++);
    sampler_->on_created(trial, hparams, rungs.front());
    sampler_->on_validated(trial, rungs.front(), reported);
  }
  void result(const Value& hparams, double metric) { result(hparams, score(metric)); }
  void running(const Value& hparams) {
    sampler_->on_created(TrialNumber(created_++), hparams, rungs.front());
  }
  void exit(std::uint64_t trial, ExitReason reason) { sampler_->on_exited(TrialNumber(trial), reason); }
  void again(std::uint64_t trial, double metric) {
    sampler_->on_promoted(TrialNumber(trial), Units{3});
    sampler_->on_validated(TrialNumber(trial), Units{3}, score(metric));
  }

  /// As trial `number` would be now.
  [[nodiscard]] Sampler::Sample sample(std::uint64_t number, const Sampler::Taken& taken = {}) const {
    return sampler_->sample(TrialNumber(number), rungs, taken);
  }
  /// The trials near which 400 trials would be drawn, and how many each.
  [[nodiscard]] std::map<std::uint64_t, int> near() const {
    std::map<std::uint64_t, int> found;
    for (std::uint64_t number = 0; number < 400; ++number) {
      ++found[sample(number).reason.near.value()];
    }
    return found;
  }

 private:
  std::unique_ptr<Sampler> sampler_;
  std::uint64_t created_ = 0;
};

ExperimentConfig annealing(double avg_best_idx = 2, double shrink_coef = 0.1) {
  ExperimentConfig config = settings("random", 1, 1000);
  config.searcher.anneal = {avg_best_idx, shrink_coef};
  config.experiment_seed = 7;
  return config;
}

Value lr(double value) {
  return Value::Map{{"lr", value}};
}

double lr_of(const Sampler::Sample& sample) {
  return sample.hparams.at_path("lr")->number_or(-1);
}

TEST(Anneal, BeforeTheFirstResultDrawsAreThoseOfRandomSearch) {
  const ExperimentConfig config = annealing();
  Heard heard(config);
  heard.running(lr(0.5));
  const Sampler::Sample sample = heard.sample(1);
  EXPECT_EQ(sample.hparams, config.space.sample(7, TrialNumber(1)));
  EXPECT_EQ(sample.reason, Reason());
}

TEST(Anneal, WindowsShrinkAsResultsComeIn) {
  Heard heard(annealing(1, 0.5));
  for (const double width : {1 / 1.5, 1 / 2.0, 1 / 2.5, 1 / 3.0}) {
    heard.result(lr(0.5), 0.1);
    double least = 1;
    double most = 0;
    for (std::uint64_t number = 0; number < 400; ++number) {
      const Sampler::Sample sample = heard.sample(number);
      EXPECT_DOUBLE_EQ(sample.reason.spread.value(), width);
      least = std::min(least, lr_of(sample));
      most = std::max(most, lr_of(sample));
    }
    EXPECT_GE(least, 0.5 - width / 2);
    EXPECT_LE(most, 0.5 + width / 2);
    EXPECT_GT(most - least, 0.97 * width) << "the window is used up to its ends";
  }
}

TEST(Anneal, WindowsArePushedInsideTheRange) {
  Heard heard(annealing(1, 1));
  heard.result(lr(0.01), 0.1);  // A window of half the range: from 0 to 0.5, not from -0.24.
  double most = 0;
  for (std::uint64_t number = 0; number < 400; ++number) {
    most = std::max(most, lr_of(heard.sample(number)));
  }
  EXPECT_GT(most, 0.48);
  EXPECT_LE(most, 0.5);
}

TEST(Anneal, MostDrawsAreNearTheBest) {
  Heard heard(annealing());
  heard.result(lr(0.1), 0.3);
  heard.result(lr(0.2), 0.1);
  heard.result(lr(0.3), 0.2);
  const std::map<std::uint64_t, int> near = heard.near();
  EXPECT_NEAR(near.at(1), 200, 40) << "a half";
  EXPECT_NEAR(near.at(2), 100, 30) << "a quarter";
  EXPECT_NEAR(near.at(0), 100, 30) << "the rest: ranks beyond the last are the last";
  const Sampler::Sample sample = heard.sample(3);
  EXPECT_EQ(sample.reason.why, Reason::Why::near_trial);
  EXPECT_EQ(sample.reason.results, 3U);
  EXPECT_EQ(sample.first_rung, 0U);
}

TEST(Anneal, AlwaysTheBestWithAMeanRankOfOneOrLess) {
  for (const double mean : {1.0, 0.5}) {
    Heard heard(annealing(mean));
    heard.result(lr(0.1), 0.3);
    heard.result(lr(0.2), 0.1);
    EXPECT_EQ(heard.near(), (std::map<std::uint64_t, int>{{1, 400}}));
  }
}

TEST(Anneal, TheLatestResultOfATrialCounts) {
  Heard heard(annealing(1));
  heard.result(lr(0.1), 0.3);
  heard.result(lr(0.2), 0.1);
  heard.again(1, 0.9);
  EXPECT_EQ(heard.near(), (std::map<std::uint64_t, int>{{0, 400}}));
  EXPECT_EQ(heard.sample(2).reason.results, 2U);
}

TEST(Anneal, FailedTrialsRankLastAndInvalidOnesAreForgotten) {
  Heard heard(annealing(1));
  heard.result(lr(0.1), 0.1);
  heard.result(lr(0.2), 0.2);
  heard.result(lr(0.3), 0.3);
  heard.running(lr(0.4));
  heard.exit(0, ExitReason::errored);
  EXPECT_EQ(heard.near(), (std::map<std::uint64_t, int>{{1, 400}}));
  heard.exit(1, ExitReason::invalid_hp);
  EXPECT_EQ(heard.near(), (std::map<std::uint64_t, int>{{2, 400}}));
  EXPECT_EQ(heard.sample(4).reason.results, 2U);
  heard.exit(2, ExitReason::user_canceled);
  EXPECT_EQ(heard.near(), (std::map<std::uint64_t, int>{{2, 400}})) << "its result stays";
  heard.exit(3, ExitReason::user_canceled);
  EXPECT_EQ(heard.sample(4).reason.results, 2U) << "it never had one";
}

TEST(Anneal, IntegersCanAlwaysReachTheirNeighbours) {
  ExperimentConfig config = annealing(1, 1000);
  config.space = space_of({{"layers", int_range(1, 9)}});
  Heard heard(config);
  heard.result(Value::Map{{"layers", 5}}, 0.1);
  std::map<std::int64_t, int> drawn;
  for (std::uint64_t number = 0; number < 400; ++number) {
    ++drawn[*heard.sample(number).hparams.at_path("layers")->as_integer()];
  }
  EXPECT_EQ(drawn.size(), 3U);
  EXPECT_NEAR(drawn[4], 100, 30);
  EXPECT_NEAR(drawn[5], 200, 40);
  EXPECT_NEAR(drawn[6], 100, 30);
}

TEST(Anneal, StepsAndLogScalesCanAlwaysReachTheirNeighbours) {
  ExperimentConfig config = annealing(1, 1000);
  Value::Map share = double_range(0, 1);
  share["step"] = 0.1;
  Value::Map width = int_range(8, 128);
  width["step"] = 8;
  width["scale"] = "log";
  config.space = space_of({{"share", share}, {"width", width}});
  Heard heard(config);
  heard.result(Value::Map{{"share", 0.3}, {"width", 32}}, 0.1);
  std::map<std::string, int> shares;
  std::map<std::int64_t, int> widths;
  for (std::uint64_t number = 0; number < 400; ++number) {
    const Value hparams = heard.sample(number).hparams;
    ++shares[engine::compact_json(*hparams.at_path("share"))];
    ++widths[*hparams.at_path("width")->as_integer()];
  }
  EXPECT_EQ(shares.size(), 3U);
  EXPECT_NEAR(shares["0.2"], 100, 30);
  EXPECT_NEAR(shares["0.3"], 200, 40);
  EXPECT_NEAR(shares["0.4"], 100, 30);
  EXPECT_EQ(widths.size(), 3U);
  EXPECT_GT(widths[24], 50);
  EXPECT_GT(widths[32], 100);
  EXPECT_GT(widths[40], 50);
}

TEST(Anneal, OrderedCategoriesMoveToTheirNeighbours) {
  ExperimentConfig config = annealing(1, 1000);
  Value::Map size = test::categorical({"xs", "s", "m", "l", "xl"});
  size["ordered"] = true;
  config.space = space_of({{"batch", test::categorical({32, 64, 128, 256})}, {"size", size}});
  Heard heard(config);
  heard.result(Value::Map{{"batch", 32}, {"size", "m"}}, 0.1);
  std::set<std::string> sizes;
  std::set<std::int64_t> batches;
  for (std::uint64_t number = 0; number < 400; ++number) {
    const Value hparams = heard.sample(number).hparams;
    sizes.insert(*hparams.at_path("size")->as_text());
    batches.insert(*hparams.at_path("batch")->as_integer());
  }
  EXPECT_EQ(sizes, (std::set<std::string>{"s", "m", "l"}));
  EXPECT_EQ(batches, (std::set<std::int64_t>{32, 64}));
}

TEST(Anneal, CategoriesAreDrawnAnewAsOftenAsTheWindowIsWide) {
  ExperimentConfig config = annealing(1, 1);
  config.space = space_of({{"act", test::categorical({"relu", "gelu", 7, "tanh"})}, {"width", 64}});
  Heard heard(config);
  heard.result(Value::Map{{"act", 7}, {"width", 64}}, 0.1);
  std::map<std::string, int> drawn;
  for (std::uint64_t number = 0; number < 400; ++number) {
    ++drawn[engine::compact_json(heard.sample(number).hparams)];
  }
  EXPECT_EQ(drawn.size(), 4U);
  EXPECT_NEAR(drawn[R"({"act":7,"width":64})"], 400 * (0.5 + 0.5 / 4), 40);
}

// The windows are narrow, and yet what was inactive comes from the whole range.
TEST(Anneal, ANewlyActiveLeafComesFromTheWholeRange) {
  ExperimentConfig config = annealing(1, 9);
  Value::Map slope = double_range(0, 1);
  slope["when"] = Value::Map{{"act", "leaky"}};
  config.space = space_of({{"act", test::categorical({"relu", "leaky"})}, {"slope", slope}});
  Heard heard(config);
  heard.result(Value::Map{{"act", "relu"}}, 0.1);
  int low = 0;
  int high = 0;
  for (std::uint64_t number = 0; number < 2000; ++number) {
    const Value hparams = heard.sample(number).hparams;
    const Value* drawn = hparams.at_path("slope");
    EXPECT_EQ(drawn != nullptr, *hparams.at_path("act") == Value("leaky"));
    if (drawn != nullptr) {
      low += drawn->number_or(0) < 0.25 ? 1 : 0;
      high += drawn->number_or(0) > 0.75 ? 1 : 0;
    }
  }
  // About 100 trials, and each value has a quarter.
  EXPECT_GT(low, 8);
  EXPECT_GT(high, 8);
}

TEST(Anneal, DrawsAgainWhatIsTaken) {
  ExperimentConfig config = annealing(1, 1);
  config.space = space_of({{"layers", int_range(1, 4)}});
  Heard heard(config);
  heard.result(Value::Map{{"layers", 2}}, 0.1);
  std::set<std::int64_t> free;
  for (std::uint64_t number = 0; number < 100; ++number) {
    const Sampler::Sample sample =
        heard.sample(number, [](const Value& hparams) { return *hparams.at_path("layers") == Value(2); });
    free.insert(*sample.hparams.at_path("layers")->as_integer());
  }
  EXPECT_FALSE(free.contains(2));
  EXPECT_GE(free.size(), 2U);
}

/// The best of 60 trials of 20 seeds each, on a bowl in four dimensions.
double mean_best(engine::SamplerName sampler) {
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    ExperimentConfig config = settings("random", 1, 60);
    config.space = space_of({{"a", double_range(0, 1)},
                             {"b", double_range(0, 1)},
                             {"c", double_range(0, 1)},
                             {"d", double_range(0, 1)}});
    config.searcher.sampler = sampler;
    config.experiment_seed = seed;
    const std::unique_ptr<engine::Searcher> searcher = test::kind_of(config).make(config);
    double best = 10;
    for (std::uint64_t trial = 0; trial < 60; ++trial) {
      const auto create = std::get<engine::CreateTrial>(searcher->next());
      double loss = 0;
      for (const char* name : {"a", "b", "c", "d"}) {
        const double distance = create.hparams.at_path(name)->number_or(0) - 0.3;
        loss += distance * distance;
      }
      best = std::min(best, loss);
      searcher->on_event(engine::TrialWasCreated{create.trial, create.hparams, create.length});
      searcher->on_event(engine::TrialValidated{create.trial, create.length, score(loss)});
      searcher->on_event(engine::TrialWasClosed{create.trial});
    }
    sum += best;
  }
  return sum / 20;
}

TEST(Anneal, FindsTheBottomOfABowlBetterThanRandomDraws) {
  EXPECT_LT(mean_best(engine::SamplerName::anneal), 0.3 * mean_best(engine::SamplerName::random));
}

/// The rows of the table of docs/searchers/anneal.md, computed anew.
std::vector<std::string> example_rows() {
  ExperimentConfig config = settings("random", 1, 12);
  config.space = space_of({{"layers", int_range(1, 8)},
                           {"lr", Value::Map{{"type", "log"}, {"minval", -4}, {"maxval", 0}}},
                           {"optimizer", test::categorical({"adam", "sgd"})}});
  config.searcher.sampler = engine::SamplerName::anneal;
  config.searcher.anneal.shrink_coef = 0.5;
  config.experiment_seed = 3;
  const std::unique_ptr<engine::Searcher> searcher = test::kind_of(config).make(config);
  std::vector<std::string> rows;
  while (rows.size() < 12) {
    const auto create = std::get<engine::CreateTrial>(searcher->next());
    const double rate = create.hparams.at_path("lr")->number_or(0);
    const double layers = create.hparams.at_path("layers")->number_or(0);
    const bool adam = *create.hparams.at_path("optimizer") == Value("adam");
    const double loss = std::abs(std::log10(rate) + 2) + std::abs(layers - 4) / 10 + (adam ? 0 : 0.3);
    const Reason& why = create.reason;
    rows.push_back("| " + std::to_string(create.trial.number()) + " | " + engine::short_number(rate) + " | " +
                   engine::short_number(layers) + " | " + (adam ? "adam" : "sgd") + " | " +
                   engine::short_number(loss) + " | " +
                   (why.near ? std::to_string(*why.near) + " | " + std::to_string(*why.near_rank + 1) +
                                   " of " + std::to_string(*why.results) + " | " +
                                   engine::short_number(100 * *why.spread) + " %"
                             : "random | – | –") +
                   " |");
    searcher->on_event(engine::TrialWasCreated{create.trial, create.hparams, create.length});
    searcher->on_event(engine::TrialValidated{create.trial, create.length, score(loss)});
    searcher->on_event(engine::TrialWasClosed{create.trial});
  }
  return rows;
}

TEST(Anneal, ThePagesExampleIsWhatTheSearcherDoes) {
  std::ifstream page(HPSEARCH_ANNEAL_PAGE);
  std::vector<std::string> rows;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| ") && line.size() > 2 && std::isdigit(static_cast<unsigned char>(line[2])) != 0) {
      rows.push_back(line);
    }
  }
  EXPECT_EQ(rows, example_rows());
}

}  // namespace
}  // namespace hpsearch::searchers

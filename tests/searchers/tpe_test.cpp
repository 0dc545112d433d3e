#include "hpsearch/searchers/tpe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "settings.hpp"

namespace hpsearch::searchers {
namespace {

using engine::ExitReason;
using engine::Reason;
using engine::TrialNumber;
using test::categorical;
using test::double_range;
using test::ExperimentConfig;
using test::int_range;
using test::score;
using test::settings;
using test::space_of;
using test::Units;
using test::Value;

const std::vector<Units> rungs{Units{1}, Units{3}};

/// A sampler that has heard of trials of one parameter, lr in [0, 1).
class Heard {
 public:
  explicit Heard(const ExperimentConfig& config) : sampler_(make_tpe_sampler(config)) {}

  TrialNumber running(double lr) {
    const TrialNumber trial(created_++);
    sampler_->on_created(trial, Value(Value::Map{{"lr", lr}}), Units{1});
    return trial;
  }
  TrialNumber result(double lr, double metric) {
    const TrialNumber trial = running(lr);
    sampler_->on_validated(trial, Units{1}, score(metric));
    return trial;
  }
  void promoted(TrialNumber trial, double metric) {
    sampler_->on_promoted(trial, Units{3});
    sampler_->on_validated(trial, Units{3}, score(metric));
  }
  void exit(TrialNumber trial, ExitReason reason) { sampler_->on_exited(trial, reason); }

  [[nodiscard]] Sampler::Sample sample(std::uint64_t number, const Sampler::Taken& taken = {}) const {
    return sampler_->sample(TrialNumber(number), rungs, taken);
  }
  /// The share of 300 samples in [from, to).
  [[nodiscard]] double share(double from, double to) const {
    int inside = 0;
    for (std::uint64_t number = 0; number < 300; ++number) {
      const double lr = sample(1000 + number).hparams.at_path("lr")->number_or(-1);
      inside += lr >= from && lr < to ? 1 : 0;
    }
    return inside / 300.0;
  }

 private:
  std::unique_ptr<Sampler> sampler_;
  std::uint64_t created_ = 0;
};

ExperimentConfig estimating(std::uint64_t initial_results = 4, double gamma = 0.25) {
  ExperimentConfig config = settings("random", 3, 1000);
  config.searcher.sampler = engine::SamplerName::tpe;
  config.searcher.tpe.initial_results = initial_results;
  config.searcher.tpe.gamma = gamma;
  config.experiment_seed = 7;
  return config;
}

TEST(Tpe, BeforeEnoughResultsDrawsAreThoseOfRandomSearch) {
  const ExperimentConfig config = estimating(6);
  Heard heard(config);
  for (int i = 0; i < 5; ++i) {
    heard.result(0.1 * i, 0.1 * i);
  }
  const Sampler::Sample before = heard.sample(5);
  EXPECT_EQ(before.hparams, config.space.sample(7, TrialNumber(5)));
  EXPECT_EQ(before.reason, Reason());
  heard.result(0.5, 0.5);
  const Sampler::Sample after = heard.sample(6);
  EXPECT_EQ(after.reason.why, Reason::Why::model_choice);
  EXPECT_EQ(after.reason.results, 6U);
}

TEST(Tpe, DrawsWhereGoodResultsAreAndOthersAreNot) {
  Heard heard(estimating());
  for (int i = 0; i < 20; ++i) {
    const double lr = (i + 0.5) / 20;
    heard.result(lr, std::abs(lr - 0.7));
  }
  EXPECT_GT(heard.share(0.5, 0.9), 0.95);
}

TEST(Tpe, LooksAtTheLongestLengthThatHasEnough) {
  Heard heard(estimating());
  std::vector<TrialNumber> trials;
  for (int i = 0; i < 20; ++i) {
    const double lr = (i + 0.5) / 20;
    trials.push_back(heard.result(lr, std::abs(lr - 0.2)));
  }
  EXPECT_GT(heard.share(0, 0.4), 0.95) << "short trainings say 0.2";
  const auto train_on = [&](int i) {
    heard.promoted(trials[static_cast<std::size_t>(i)], std::abs((i + 0.5) / 20 - 0.8));
  };
  for (const int i : {1, 9, 15}) {
    train_on(i);
  }
  EXPECT_GT(heard.share(0, 0.4), 0.95) << "three results are not enough";
  for (const int i : {3, 5, 7, 11, 13, 17, 19}) {
    train_on(i);
  }
  EXPECT_GT(heard.share(0.6, 1), 0.9) << "long ones say 0.8";
  EXPECT_EQ(heard.sample(20).reason.results, 10U);
}

TEST(Tpe, KeepsAwayFromTrialsThatTrain) {
  Heard idle(estimating());
  Heard busy(estimating());
  for (Heard* heard : {&idle, &busy}) {
    for (int i = 0; i < 20; ++i) {
      const double lr = (i + 0.5) / 20;
      heard->result(lr, std::abs(lr - 0.3));
    }
  }
  for (int i = 0; i < 12; ++i) {
    busy.running(0.3);
  }
  EXPECT_GT(idle.share(0.25, 0.35), 0.4);
  EXPECT_LT(busy.share(0.25, 0.35), idle.share(0.25, 0.35) / 2);
}

TEST(Tpe, FailedTrialsRankLastAndInvalidOnesAreForgotten) {
  Heard heard(estimating());
  for (int i = 0; i < 12; ++i) {
    heard.result((i + 0.5) / 12, 0.5);
  }
  for (int i = 0; i < 6; ++i) {
    heard.exit(heard.running(0.1), ExitReason::errored);
  }
  EXPECT_EQ(heard.sample(30).reason.results, 18U);
  EXPECT_LT(heard.share(0.02, 0.18), 0.05);
  const TrialNumber invalid = heard.result(0.9, 0.0);
  EXPECT_EQ(heard.sample(30).reason.results, 19U);
  heard.exit(invalid, ExitReason::invalid_hp);
  EXPECT_EQ(heard.sample(30).reason.results, 18U);
  heard.exit(heard.running(0.5), ExitReason::user_canceled);
  EXPECT_EQ(heard.sample(30).reason.results, 18U) << "what a user ended has no result";
}

TEST(Tpe, TakesTheBestFreeCandidate) {
  ExperimentConfig config = estimating();
  config.space = space_of({{"layers", int_range(1, 6)}});
  std::unique_ptr<Sampler> sampler = make_tpe_sampler(config);
  for (std::uint64_t i = 0; i < 12; ++i) {
    const auto layers = static_cast<std::int64_t>(i % 6 + 1);
    sampler->on_created(TrialNumber(i), Value(Value::Map{{"layers", layers}}), Units{1});
    sampler->on_validated(TrialNumber(i), Units{1}, score(std::abs(static_cast<double>(layers) - 3)));
  }
  const auto layers_of = [&](const Sampler::Taken& taken) {
    return *sampler->sample(TrialNumber(12), rungs, taken).hparams.at_path("layers");
  };
  EXPECT_EQ(layers_of({}), Value(3));
  const Value second = layers_of([](const Value& hparams) { return *hparams.at_path("layers") == Value(3); });
  EXPECT_TRUE(second == Value(2) || second == Value(4));
}

TEST(Tpe, CostsTheSameHoweverManyResultsThereAre) {
  // Samples of thousands of results have kernels for a few hundred; what is drawn depends on all.
  Heard heard(estimating());
  for (int i = 0; i < 3000; ++i) {
    const double lr = (i + 0.5) / 3000;
    heard.result(lr, std::abs(lr - 0.4));
  }
  EXPECT_GT(heard.share(0.25, 0.55), 0.95);
}

/// The best of 60 trials of 20 seeds each, on a bowl in four dimensions with two categories.
double mean_best(engine::SamplerName sampler) {
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    ExperimentConfig config = settings("random", 1, 60);
    config.space = space_of({{"a", double_range(0, 1)},
                             {"b", double_range(0, 1)},
                             {"c", int_range(0, 100)},
                             {"d", categorical({"x", "y", "z"})}});
    config.searcher.sampler = sampler;
    config.experiment_seed = seed;
    const std::unique_ptr<engine::Searcher> searcher = test::kind_of(config).make(config);
    double best = 10;
    for (std::uint64_t trial = 0; trial < 60; ++trial) {
      const auto create = std::get<engine::CreateTrial>(searcher->next());
      double loss = *create.hparams.at_path("d") == Value("y") ? 0 : 0.2;
      for (const auto& [name, range] : {std::pair("a", 1.0), std::pair("b", 1.0), std::pair("c", 100.0)}) {
        const double distance = create.hparams.at_path(name)->number_or(0) / range - 0.3;
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

TEST(Tpe, FindsTheBottomOfABowlBetterThanRandomDraws) {
  EXPECT_LT(mean_best(engine::SamplerName::tpe), 0.4 * mean_best(engine::SamplerName::random));
}

/// The rows of the table of docs/searchers/tpe.md, computed anew.
std::vector<std::string> example_rows() {
  ExperimentConfig config = settings("random", 1, 12);
  config.space = space_of({{"layers", int_range(1, 8)},
                           {"lr", Value::Map{{"type", "log"}, {"minval", -4}, {"maxval", 0}}},
                           {"optimizer", categorical({"adam", "sgd"})}});
  config.searcher.sampler = engine::SamplerName::tpe;
  config.searcher.tpe.initial_results = 6;
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
    const bool is_chosen = why.why == Reason::Why::model_choice;
    rows.push_back("| " + std::to_string(create.trial.number()) + " | " + engine::short_number(rate) + " | " +
                   engine::short_number(layers) + " | " + (adam ? "adam" : "sgd") + " | " +
                   engine::short_number(loss) + " | " +
                   (is_chosen ? (why.near ? "trial " + std::to_string(*why.near) : std::string("no trial")) +
                                    " | " + why.detail.substr(3, why.detail.find(" times") - 3)
                              : "random | –") +
                   " |");
    searcher->on_event(engine::TrialWasCreated{create.trial, create.hparams, create.length});
    searcher->on_event(engine::TrialValidated{create.trial, create.length, score(loss)});
    searcher->on_event(engine::TrialWasClosed{create.trial});
  }
  return rows;
}

TEST(Tpe, ThePagesExampleIsWhatTheSamplerDoes) {
  std::ifstream page(HPSEARCH_TPE_PAGE);
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

// Runs the real binary, hpsearch simulate.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "cli/render/text.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "messages.hpp"
#include "scratch.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;
using testing::AllOf;
using testing::HasSubstr;

class Simulate : public testing::Test {
 protected:
  struct Ended {
    int status = 0;
    std::string out;
    std::string err;
  };

  void SetUp() override {
    scratch_.write("bracket.yaml",
                   "name: bracket\n"
                   "entrypoint: [python3, train.py]\n"
                   "hyperparameters: {lr: {type: log, base: 10, minval: -4, maxval: 0}}\n"
                   "searcher: {name: async_halving, metric: loss, num_rungs: 3, divisor: 3,\n"
                   "           max_length: {batches: 9000}, max_trials: 12}\n");
  }

  /// Runs `hpsearch simulate ARGUMENTS` in the scratch folder; arguments are shell text.
  Ended run(const std::string& arguments) {
    const std::string command = "cd '" + scratch_.path().string() +
                                "' && env -u HPSEARCH_SERVER -u HPSEARCH_LCBENCH_DIR '" HPSEARCH_PROGRAM
                                "' simulate </dev/null " +
                                arguments + " >out 2>err";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, scratch_.read("out"), scratch_.read("err")};
  }

  Value run_json(const std::string& arguments) {
    const Ended ended = run(arguments + " --output json");
    EXPECT_EQ(ended.status, 0) << ended.err << ended.out;
    const auto parsed = proto::parse_json(ended.out);
    EXPECT_TRUE(parsed) << ended.out;
    return parsed ? *parsed : Value();
  }

  /// "1000 3000 9000; 1000; …" of all trials.
  static std::string lengths(const Value& simulation) {
    std::string text;
    for (const Value& trial : list_at(simulation, "trials")) {
      text += text.empty() ? "" : "; ";
      std::string one;
      for (const Value& length : list_at(trial, "lengths")) {
        one += (one.empty() ? "" : " ") + engine::compact_json(length);
      }
      text += one;
    }
    return text;
  }

  Scratch scratch_;
};

TEST_F(Simulate, TrainsTheBracketOfTheSpec) {
  const Value simulation = run_json("bracket.yaml --metric '0.01*trial' --duration op");
  EXPECT_EQ(
      lengths(simulation),
      "1000 3000 9000; 1000 3000; 1000 3000; 1000 3000; 1000; 1000; 1000; 1000; 1000; 1000; 1000; 1000");
  EXPECT_EQ(text_at(simulation, "state"), "COMPLETED");
  EXPECT_EQ(count_at(*simulation.at_path("totals"), "trained"), 26'000U);
  EXPECT_EQ(list_at(simulation, "closing_order").size(), 12U);
  EXPECT_EQ(list_at(simulation, "decisions").size(), count_at(*simulation.at_path("totals"), "decisions"));
  const Value& first = list_at(simulation, "trials").front();
  EXPECT_EQ(text_at(first, "state"), "COMPLETED");
  EXPECT_EQ(text_at(*first.at_path("reason"), "why"), "max_length");
  EXPECT_NE(first.at_path("hparams.lr"), nullptr);
}

TEST_F(Simulate, IsReproducible) {
  const std::string arguments =
      "bracket.yaml --metric 'lr + 1/length' --failure-rate 0.3 --workers 3 -o json";
  const std::string first = run(arguments).out;
  EXPECT_EQ(run(arguments).out, first);
  EXPECT_NE(run(arguments + " --failure-seed 2").out, first);
}

TEST_F(Simulate, EndsTrialsAtGivenExits) {
  const Value simulation = run_json(
      "--exit 0:0:errored --exit 1:0:user_canceled --exit 2:0:user_stopped --exit 3:0:invalid_hp "
      "bracket.yaml "
      "--metric trial");
  const auto& trials = list_at(simulation, "trials");
  ASSERT_EQ(trials.size(), 13U);
  EXPECT_EQ(text_at(trials[0], "state"), "FAILED");
  EXPECT_EQ(text_at(trials[1], "state"), "CANCELED");
  EXPECT_EQ(text_at(trials[2], "state"), "STOPPED");
  EXPECT_EQ(text_at(trials[3], "state"), "STOPPED");
}

TEST_F(Simulate, TotalsMayBeLargerThanAnInteger) {
  scratch_.write("long.yaml",
                 "entrypoint: 'true'\n"
                 "hyperparameters: {x: {type: double, minval: 0, maxval: 1}}\n"
                 "searcher: {name: random, metric: loss, max_length: {batches: 9000000000000000000}, "
                 "max_trials: 100}\n");
  const Value simulation = run_json("long.yaml --metric x --duration op");
  EXPECT_EQ(number_at(*simulation.at_path("totals"), "trained_full"), 9e20);
  EXPECT_EQ(number_at(*simulation.at_path("totals"), "trained"), 9e20);
  EXPECT_THAT(
      run("long.yaml --metric x --duration op").out,
      HasSubstr("trained     900000000000000000000 batches, 100.0 % of training every trial to the end"));
  const Ended refused = run("long.yaml --metric x");
  EXPECT_EQ(refused.status, 2);
  EXPECT_MESSAGE(refused.err);
}

TEST_F(Simulate, WarnsAboutAnUnusedExit) {
  const Ended ended = run("bracket.yaml --metric trial --exit 11:2:errored");
  EXPECT_EQ(ended.status, 0);
  EXPECT_MESSAGE(ended.err);
}

TEST_F(Simulate, ReadsCurvesFromATable) {
  scratch_.write("curves.csv",
                 "trial,length,metric,seconds\n"
                 "0,1000,0.5,10\n0,3000,0.4,30\n0,9000,0.35,90\n"
                 "1,1000,0.6,20\n1,9000,0.1,180\n");
  const Value simulation = run_json("bracket.yaml --curves curves.csv --cycle --workers 1");
  EXPECT_EQ(text_at(simulation, "duration"), "curve");
  EXPECT_EQ(number_at(*simulation.at_path("regret.against"), "metric"), 0.1);
  const Ended refused = run("bracket.yaml --curves curves.csv");
  EXPECT_EQ(refused.status, 2);
  EXPECT_MESSAGE(refused.err);
}

TEST_F(Simulate, MakesSyntheticCurves) {
  for (const char* kind : {"power", "crossing", "diverging"}) {
    const Value simulation = run_json("bracket.yaml --curves synthetic:" + std::string(kind));
    EXPECT_EQ(text_at(*simulation.at_path("regret.against"), "kind"), "known_optimum");
    EXPECT_FALSE(list_at(*simulation.at_path("regret"), "steps").empty());
  }
}

TEST_F(Simulate, ExplainsNegativeRegretFromNoise) {
  scratch_.write("easy.yaml",
                 "entrypoint: 'true'\n"
                 "hyperparameters: {x: {type: double, minval: 0, maxval: 1}}\n"
                 "searcher: {name: random, metric: loss, max_length: {epochs: 81}, max_trials: 300}\n");
  const Value simulation = run_json("easy.yaml --curves synthetic:power");
  const Value& last = list_at(*simulation.at_path("regret"), "steps").back();
  ASSERT_LT(number_at(last, "metric"), number_at(*simulation.at_path("regret.against"), "metric"));
  EXPECT_EQ(number_at(last, "regret"), 0);
  const Ended ended = run("easy.yaml --curves synthetic:power");
  EXPECT_THAT(ended.out,
              HasSubstr("the best that is known; it is 0 for what noise lets appear better still\n"));
  EXPECT_THAT(run("bracket.yaml --metric trial").out,
              HasSubstr("the best of the created trials at full length\n"));
}

TEST_F(Simulate, PrintsATable) {
  const Ended ended = run("bracket.yaml --metric '0.01*trial' --duration op");
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, AllOf(HasSubstr("bracket: async_halving, 12 trials on 16 workers"),
                               HasSubstr("COMPLETED  1000 3000 9000"), HasSubstr("REGRET"),
                               HasSubstr("3 ticks (one for each piece of work)")));
}

TEST_F(Simulate, ErrorsAreOneSentence) {
  for (const char* arguments :
       {"bracket.yaml", "bracket.yaml --metric '0.01*trail'", "bracket.yaml --metric 1 --curves c.csv",
        "bracket.yaml --metric 1 --exit 3", "bracket.yaml --metric 1 --exit 3:0:erored",
        "bracket.yaml --metric 1 --exit x:0:errored", "bracket.yaml --metric 1 --duration curve",
        "bracket.yaml --metric 1 --cycle", "bracket.yaml --metric 1 --data .",
        "bracket.yaml --metric 1 --state-dir .", "bracket.yaml --metric 1 --failure-rate 2",
        "bracket.yaml --metric 1 --failure-rate nan", "bracket.yaml --metric 1 --failure-seed=-1",
        "bracket.yaml --metric 1 --failure-seed 18446744073709551616",
        "bracket.yaml --metric 1 --exit 3:0:errored --exit 3:0:invalid_hp", "bracket.yaml --curves /tmp",
        "bracket.yaml --curves none.csv", "bracket.yaml --curves synthetic:nice",
        "bracket.yaml --curves surrogate:adult"}) {
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.status, 2) << arguments;
    EXPECT_MESSAGE(ended.err) << arguments;
    EXPECT_EQ(ended.out, "") << arguments;
  }
}

TEST_F(Simulate, PrintsNoControlCharactersOfArguments) {
  for (const char* text : {"\x1b[31m", "\x07"}) {
    const Ended refused = run(std::string("bracket.yaml --metric '") + text + "'");
    EXPECT_EQ(refused.status, 2);
    EXPECT_MESSAGE(refused.err);
  }
}

TEST_F(Simulate, StopsAtTheGivenTime) {
  scratch_.write("long.yaml",
                 "entrypoint: 'true'\n"
                 "hyperparameters: {x: 1}\n"
                 "searcher: {name: single, metric: loss, max_length: {batches: 3000000000000}}\n");
  EXPECT_EQ(number_at(*run_json("long.yaml --metric x --until 2000000000000").at_path("totals"), "seconds"),
            2e12);
}

TEST_F(Simulate, NamesTheMissingDataOfTheSurrogate) {
  scratch_.write(
      "up.yaml",
      "entrypoint: 'true'\n"
      "searcher: {name: single, metric: accuracy, smaller_is_better: false, max_length: {epochs: 52}}\n");
  const Ended ended = run("up.yaml --curves surrogate:adult");
  EXPECT_EQ(ended.status, 2);
  EXPECT_MESSAGE(ended.err);
}

TEST_F(Simulate, RefusesAGridThatIsTooLarge) {
  scratch_.write("huge.yaml",
                 "entrypoint: 'true'\n"
                 "hyperparameters:\n"
                 "  a: {type: double, minval: 0, maxval: 1, count: 1000000}\n"
                 "  b: {type: double, minval: 0, maxval: 1, count: 1000000}\n"
                 "searcher: {name: grid, metric: loss, max_length: {epochs: 10}}\n");
  const Ended refused = run("huge.yaml --metric a");
  EXPECT_EQ(refused.status, 2);
  EXPECT_MESSAGE(refused.err);
  const Value some = run_json("huge.yaml --metric a --until 100 --workers 2");
  EXPECT_EQ(text_at(some, "state"), "ACTIVE");
  EXPECT_EQ(list_at(some, "trials").size(), 22U);
}

TEST_F(Simulate, ReadsExperimentsFromADaemon) {
  const Ended ended = run("bracket.yaml --curves experiment:1 --server 127.0.0.1:1");
  EXPECT_EQ(ended.status, 6);
}

}  // namespace
}  // namespace hpsearch::cli

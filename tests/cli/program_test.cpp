// Runs the real binary.

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

class Program : public testing::Test {
 protected:
  struct Ended {
    int status = 0;
    std::string out;
    std::string err;
  };

  /// Runs `hpsearch ARGUMENTS` in the scratch folder; arguments are shell text.
  Ended run(const std::string& arguments) {
    const std::string command = "cd '" + scratch_.path().string() +
                                "' && env -u HPSEARCH_SERVER '" HPSEARCH_PROGRAM "' </dev/null " + arguments +
                                " >out 2>err";
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

  Scratch scratch_;
};

TEST_F(Program, CompletesItsOwnWords) {
  const Ended ended = run("__complete simul");
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.out, "simulate\tRun a search on recorded or synthetic curves, under a virtual clock\n");
  EXPECT_EQ(run("__complete validate ''").out, ":files\n");
  EXPECT_EQ(run("__complete no such command ''").status, 0);
  EXPECT_EQ(run("__complete").status, 0);
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_THAT(run(std::string("completion ") + shell).out, HasSubstr("__complete")) << shell;
  }
  EXPECT_EQ(run("completion tcsh").status, 2);
}

TEST_F(Program, DescribesItsOptions) {
  const auto described = proto::parse_json(run("--describe-options").out);
  ASSERT_TRUE(described);
  EXPECT_EQ(text_at(*described, "name"), "hpsearch");
  EXPECT_GT(list_at(*described, "commands").size(), 40U);
}

struct PreviewCase {
  const char* mode;
  int max_rungs, divisor, max_length, max_trials;
  const char* expected;
};

TEST_F(Program, PreviewsTheSpecsExamples) {
  const PreviewCase table[] = {
      {"standard", 5, 4, 1000, 100,
       R"({"brackets":[{"lengths":[15,62,250,1000],"share":6,"trials":70},)"
       R"({"lengths":[62,250,1000],"share":5,"trials":22},{"lengths":[250,1000],"share":5,"trials":8}],)"
       R"("expected_length":9905,"expected_reach":[[70,17,4,1],[22,5,1],[8,2]],)"
       R"("final_counts":{"1000":4,"15":53,"250":13,"62":30},"full_length":100000,"repeats":0,"total_length":9905,"trials":100})"},
      {"conservative", 5, 3, 81, 81,
       R"({"brackets":[{"lengths":[1,3,9,27,81],"share":4,"trials":48},{"lengths":[3,9,27,81],"share":3,"trials":19},)"
       R"({"lengths":[9,27,81],"share":3,"trials":8},{"lengths":[27,81],"share":3,"trials":4},)"
       R"({"lengths":[81],"share":3,"trials":2}],)"
       R"("expected_length":689,"expected_reach":[[48,16,5,1,0],[19,6,2,0],[8,2,0],[4,1],[2]],)"
       R"("final_counts":{"1":32,"27":8,"3":24,"81":3,"9":14},"full_length":6561,"repeats":0,"total_length":689,"trials":81})"},
      {"aggressive", 5, 4, 64, 64,
       R"({"brackets":[{"lengths":[1,4,16,64],"share":16,"trials":64}],)"
       R"("expected_length":208,"expected_reach":[[64,16,4,1]],)"
       R"("final_counts":{"1":48,"16":3,"4":12,"64":1},"full_length":4096,"repeats":0,"total_length":208,"trials":64})"},
  };
  for (const PreviewCase& c : table) {
    scratch_.write("e.yaml",
                   "entrypoint: [python3, train.py]\n"
                   "hyperparameters: {lr: {type: log, base: 10, minval: -4, maxval: 0}}\n"
                   "searcher:\n"
                   "  name: adaptive_asha\n"
                   "  metric: loss\n"
                   "  mode: " +
                       std::string(c.mode) + "\n" + "  max_rungs: " + std::to_string(c.max_rungs) + "\n" +
                       "  divisor: " + std::to_string(c.divisor) + "\n" +
                       "  max_length: {epochs: " + std::to_string(c.max_length) + "}\n" +
                       "  max_trials: " + std::to_string(c.max_trials) + "\n");
    Value preview = run_json("preview e.yaml");
    ASSERT_NE(preview.as_map(), nullptr);
    EXPECT_TRUE(preview.as_map()->contains("warnings"));
    preview.as_map()->erase("warnings");
    EXPECT_EQ(engine::compact_json(preview), c.expected) << c.mode;
  }
}

TEST_F(Program, PreviewsExpectedLengthsIfEqualMetricsPass) {
  scratch_.write("e.yaml",
                 "entrypoint: 'true'\n"
                 "hyperparameters: {x: {type: double, minval: 0, maxval: 1}}\n"
                 "searcher: {name: async_halving, metric: loss, max_length: {epochs: 80}, max_trials: 30, "
                 "num_rungs: 3,\n"
                 "           divisor: 4, stop_once: true}\n");
  const Value preview = run_json("preview e.yaml");
  EXPECT_EQ(engine::compact_json(member(preview, "final_counts")), R"({"80":30})");
  EXPECT_EQ(number_at(preview, "total_length"), 2400);
  EXPECT_EQ(engine::compact_json(member(preview, "expected_reach")), "[[30,8,3]]");
  EXPECT_EQ(number_at(preview, "expected_length"), 30 * 5 + 8 * 15 + 3 * 60);
  EXPECT_MESSAGE(run("preview e.yaml").out);
}

TEST_F(Program, PreviewsAsText) {
  scratch_.write("e.yaml",
                 "entrypoint: [python3, train.py]\n"
                 "hyperparameters: {lr: {type: double, minval: 0, maxval: 1}}\n"
                 "searcher: {name: random, metric: loss, max_length: {epochs: 8}, max_trials: 5}\n");
  const Ended ended = run("preview e.yaml");
  EXPECT_EQ(ended.status, 0);
  EXPECT_MESSAGE(ended.out);
}

TEST_F(Program, PreviewDistinguishesWarningsFromAdvice) {
  scratch_.write(
      "e.yaml",
      "entrypoint: [python3, train.py]\n"
      "hyperparameters: {lr: {type: double, minval: 0, maxval: 1}}\n"
      "searcher: {name: adaptive_asha, metric: loss, max_length: {epochs: 1000}, max_trials: 1000}\n");
  const Ended ended = run("preview e.yaml");
  EXPECT_MESSAGE(ended.err);
  EXPECT_THAT(run("preview e.yaml --output json").out, AllOf(HasSubstr("\"the first rung trains 3 of 1000"),
                                                             HasSubstr("\"advice: 3 brackets protect")));
}

TEST_F(Program, PreviewsAGridOf10ToThe30InExactIntegers) {
  std::string axes;
  for (int axis = 0; axis < 5; ++axis) {
    axes += "  x" + std::to_string(axis) + ": {type: int, minval: 1, maxval: 1000000, count: 1000000}\n";
  }
  scratch_.write("e.yaml", "entrypoint: [python3, train.py]\nhyperparameters:\n" + axes +
                               "searcher: {name: grid, metric: loss, max_length: {epochs: 3}}\n");
  const Ended ended = run("preview e.yaml --output json");
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, AllOf(HasSubstr("\"trials\": 1000000000000000000000000000000,"),
                               HasSubstr("\"total_length\": 3000000000000000000000000000000,")));
}

TEST_F(Program, PreviewsAGridWhoseLengthOverflows) {
  std::string axes;
  for (int axis = 0; axis < 6; ++axis) {
    axes += "  x" + std::to_string(axis) + ": {type: int, minval: 1, maxval: 1000000, count: 1000000}\n";
  }
  scratch_.write("e.yaml", "entrypoint: [python3, train.py]\nhyperparameters:\n" + axes +
                               "searcher: {name: grid, metric: loss, max_length: {epochs: 1000}}\n");
  EXPECT_MESSAGE(run("preview e.yaml").out);
  EXPECT_THAT(run("preview e.yaml --output json").out,
              AllOf(HasSubstr("\"total_length\": null,"), HasSubstr("\"full_length\": null,")));
}

TEST_F(Program, SuggestsTheNearestCommand) {
  const Ended ended = run("trails 1");
  EXPECT_EQ(ended.status, 2);
  EXPECT_MESSAGE(ended.err);
  EXPECT_EQ(ended.out, "");
}

TEST_F(Program, NamesTheGroupOfACommand) {
  EXPECT_MESSAGE(run("drain node1").err);
}

TEST_F(Program, SuggestsTheNearestOption) {
  const Ended ended = run("run e.yaml --slot 3");
  EXPECT_EQ(ended.status, 2);
  EXPECT_MESSAGE(ended.err);
}

TEST_F(Program, RefusesWrongArguments) {
  for (const char* arguments : {"", "run", "run a b c", "trials 1 2", "logs", "logs 1 2 3",
                                "run e.yaml --seed -1", "run e.yaml --seed 2147483648", "list --output xml",
                                "show a b", "show --server a:1 --state-dir b", "kill"}) {
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.status, 2) << arguments << "\n" << ended.err;
    EXPECT_MESSAGE(ended.err) << arguments;
    EXPECT_EQ(ended.out, "") << arguments;
  }
}

TEST_F(Program, NamesOptionValueAndAllowedValues) {
  for (const char* arguments : {"trials --limit 0",
                                "trials --limit 1.5",
                                "wait --timeout 0",
                                "wait --timeout nan",
                                "simulate e.yaml --report-every 0",
                                "simulate e.yaml --until -1",
                                "simulate e.yaml --workers 0",
                                "show 1 --trial -1",
                                "show 1 0x1",
                                "trials 1 --after 0x10",
                                "store verify ''",
                                "store backup a --to ''",
                                "keys list ''",
                                "set 1 max_trials=5 searcher.max_trials=6",
                                "list --output jsn",
                                "list --server",
                                "alloc add slurm --name a --backlog 1 --backlog 2 -- -p gpu",
                                "store backup a --to b --passphrase --without-keys",
                                "store backup --kye-file k",
                                "--otput json list",
                                "--server unix:///nowhere list",
                                "simulate e.yaml --until inf"}) {
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.status, 2) << arguments;
    EXPECT_MESSAGE(ended.err) << arguments;
  }
}

TEST_F(Program, PrintsNoControlCharactersOfArguments) {
  const Ended ended = run("set 1 \"$(printf 'max_trails\\033[31m=5')\"");
  EXPECT_EQ(ended.status, 2);
  EXPECT_MESSAGE(ended.err);
}

TEST_F(Program, ShowsHowAnOptionalExperimentIsGiven) {
  EXPECT_THAT(run("--help").out, HasSubstr("Usage: hpsearch [OPTIONS]"));
  EXPECT_THAT(run("explain --help").out, HasSubstr("[OPTIONS] [EXPERIMENT] TRIAL\n"));
  EXPECT_THAT(run("logs --help").out, HasSubstr("[OPTIONS] [EXPERIMENT] TRIAL\n"));
  EXPECT_THAT(run("show --help").out, HasSubstr("[OPTIONS] [EXPERIMENT [TRIAL]]\n"));
}

TEST_F(Program, DistinguishesTooLargeNumbersFromInvalidOnes) {
  const Ended large = run("explain 1 99999999999999999999");
  EXPECT_EQ(large.status, 2);
  EXPECT_MESSAGE(large.err);
  EXPECT_MESSAGE(run("explain 1 9x").err);
}

TEST_F(Program, PrintsUsageErrorsAsJson) {
  const Ended ended = run("trails --output json");
  EXPECT_EQ(ended.status, 2);
  const auto parsed = proto::parse_json(ended.out);
  ASSERT_TRUE(parsed) << ended.out;
  EXPECT_EQ(text_at(member(*parsed, "error"), "code"), "bad_request");
}

TEST_F(Program, NamesTheMissingFile) {
  scratch_.write("digits.yaml", "");
  for (const char* verb : {"run", "validate", "preview", "submit"}) {
    const Ended ended = run(std::string(verb) + " digts.yaml");
    EXPECT_EQ(ended.status, 2);
    EXPECT_MESSAGE(ended.err) << verb;
  }
  EXPECT_FALSE(std::filesystem::exists(scratch_.path() / ".hpsearch"));
}

TEST_F(Program, ReportsEveryProblemOfAFileWithItsLine) {
  scratch_.write("bad.yaml",
                 "entrypoint: [python3, train.py]\n"
                 "searcher:\n"
                 "  name: randon\n"
                 "  metric: loss\n"
                 "  max_length: 0\n"
                 "colour: red\n");
  for (const char* verb : {"validate", "preview", "run", "submit"}) {
    const Ended ended = run(std::string(verb) + " bad.yaml");
    EXPECT_EQ(ended.status, 2) << verb;
    EXPECT_MESSAGE(ended.err) << verb;
  }
  const Ended json = run("validate bad.yaml -o json");
  EXPECT_EQ(json.status, 2);
  const auto parsed = proto::parse_json(json.out);
  ASSERT_TRUE(parsed) << json.out;
  const auto& problems = list_at(member(*parsed, "error"), "problems");
  ASSERT_GE(problems.size(), 3U);
  EXPECT_EQ(count_at(problems.front(), "line"), 3U);
  EXPECT_EQ(text_at(problems.front(), "path"), "searcher.name");
}

TEST_F(Program, ValidatesAGoodFileAndStandardInput) {
  scratch_.write("good.json", R"({"entrypoint": ["python3", "t.py"],)"
                              R"("searcher": {"name": "single", "metric": "loss", "max_length": 3}})");
  const Value answer = run_json("validate good.json");
  EXPECT_EQ(member(answer, "valid"), Value(true));
  EXPECT_EQ(text_at(member(answer, "config"), "name"), "good");
  const Ended ended = run("validate - <good.json");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_MESSAGE(ended.out);
}

TEST_F(Program, ReportsThatNoDaemonAnswers) {
  const Ended ended = run("list --server 127.0.0.1:1");
  EXPECT_EQ(ended.status, 6);
  EXPECT_MESSAGE(ended.err);
}

TEST_F(Program, ReportsADirectoryWithoutASearch) {
  EXPECT_EQ(run("trials --state-dir nowhere").status, 3);
  std::filesystem::create_directory(scratch_.path() / "empty");
  const Ended ended = run("trials --state-dir empty");
  EXPECT_EQ(ended.status, 3);
  EXPECT_MESSAGE(ended.err);
  EXPECT_EQ(run("pause --state-dir empty").status, 6);
}

TEST_F(Program, RefusesAMissingContext) {
  scratch_.write("e.yaml", "entrypoint: [\"true\"]\nsearcher: {name: single, metric: loss, max_length: 3}\n");
  const Ended ended = run("run e.yaml gone");
  EXPECT_EQ(ended.status, 2);
  EXPECT_MESSAGE(ended.err);
}

TEST_F(Program, PrintsVersionAndHelp) {
  EXPECT_THAT(run("version").out, testing::StartsWith("hpsearch "));
  EXPECT_EQ(run("--version").out, run("version").out);
  EXPECT_NE(text_at(run_json("version"), "version"), "");
  const Ended help = run("--help");
  EXPECT_EQ(help.status, 0);
  for (const char* verb : {"run", "validate", "preview", "submit", "list", "show", "trials", "logs", "pause",
                           "resume", "cancel", "kill", "wait", "best", "config", "version"}) {
    EXPECT_THAT(help.out, HasSubstr(verb));
    EXPECT_EQ(run(std::string(verb) + " --help").status, 0) << verb;
  }
}

TEST_F(Program, WritesNoColorsWithoutATerminal) {
  EXPECT_EQ(run("preview missing.yaml").err.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace hpsearch::cli

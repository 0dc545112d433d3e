#include <gtest/gtest.h>

#include "hpsearch/jobs/fields/requirements.hpp"
#include "jobs/read_experiment.hpp"

namespace hpsearch::jobs {
namespace {

TEST(Environment, TakesVariablesInEveryForm) {
  const auto variables = [](const Value& value) {
    return accepted(with(small_experiment(), "environment.environment_variables", value))
        .program.environment.environment_variables;
  };
  using Variables = std::map<std::string, std::string>;
  EXPECT_EQ(variables(Value::List{"A=1", "B=x=y", "C="}), (Variables{{"A", "1"}, {"B", "x=y"}, {"C", ""}}));
  EXPECT_EQ(variables(Value::Map{{"A", "1"}, {"B", 2}, {"C", nullptr}, {"cpu", "x"}}),
            (Variables{{"A", "1"}, {"B", "2"}, {"cpu", "x"}}));
  EXPECT_EQ(variables(Value::Map{
                {"cpu", Value::List{"A=1"}}, {"cuda", Value::List{"A=1", "B=2"}}, {"rocm", Value::List{}}}),
            (Variables{{"A", "1"}, {"B", "2"}}));
}

TEST(Environment, KeepsTheCheckpointSignal) {
  const ParsedExperiment parsed =
      accepted(with(small_experiment(), "environment.checkpoint_signal", Value("SIGUSR1")));
  EXPECT_EQ(parsed.program.environment.checkpoint_signal, "SIGUSR1");
  const auto again = parse_submission(to_value(*parsed.config), test_registry(), "", 0);
  ASSERT_TRUE(again.config);
  EXPECT_EQ(again.program.environment.checkpoint_signal, "SIGUSR1");
  EXPECT_NE(problems_of(with(small_experiment(), "environment.checkpoint_signal", Value("SIGKILL")))
                .find("environment.checkpoint_signal"),
            std::string::npos);
}

TEST(Environment, MirrorsAreDistinctKnownTrackers) {
  const Value asked = Value::List{"wandb", "mlflow", "wandb"};
  const ParsedExperiment parsed = accepted(with(small_experiment(), "environment.mirrors", asked));
  EXPECT_EQ(parsed.program.environment.mirrors, (std::vector<std::string>{"wandb", "mlflow"}));
  const auto again = parse_submission(to_value(*parsed.config), test_registry(), "", 0);
  EXPECT_EQ(again.program.environment.mirrors, parsed.program.environment.mirrors);
  EXPECT_TRUE(accepted(small_experiment()).program.environment.mirrors.empty());
  for (const Value& wrong : {Value("mlflow"), Value(Value::List{"comet"}), Value(Value::List{1})}) {
    EXPECT_NE(problems_of(with(small_experiment(), "environment.mirrors", wrong))
                  .find("a list of mlflow, tensorboard and wandb"),
              std::string::npos);
  }
}

TEST(Environment, PreloadedModulesAreDistinctAndForFunctions) {
  const Value function = with(small_experiment(), "entrypoint",
                              Value(Value::List{"/usr/bin/python3", "-m", "hpsearch.run_function"}));
  const Value asked = Value::List{"torch", "a.b_2", "torch"};
  const ParsedExperiment parsed = accepted(with(function, "environment.preload", asked));
  EXPECT_EQ(parsed.program.environment.preload, (std::vector<std::string>{"torch", "a.b_2"}));
  const auto again = parse_submission(to_value(*parsed.config), test_registry(), "", 0);
  EXPECT_EQ(again.program.environment.preload, parsed.program.environment.preload);
  EXPECT_TRUE(accepted(function).program.environment.preload.empty());
  for (const Value& wrong : {Value("torch"), Value(Value::List{"a b"}), Value(Value::List{"a,b"}),
                             Value(Value::List{"a."}), Value(Value::List{""}), Value(Value::List{1})}) {
    EXPECT_NE(problems_of(with(function, "environment.preload", wrong)).find("a list of modules of Python"),
              std::string::npos);
  }
  EXPECT_NE(problems_of(with(small_experiment(), "environment.preload", asked))
                .find("only functions of hpsearch.tune"),
            std::string::npos);
}

TEST(Environment, RequirementsAreInstalledOnlyOnRequest) {
  const auto installs = [](const Value& experiment) {
    const ParsedExperiment parsed = accepted(experiment);
    const auto again = parse_submission(to_value(*parsed.config), test_registry(), "", 0);
    EXPECT_EQ(installs_requirements(again.program), installs_requirements(parsed.program));
    return installs_requirements(parsed.program);
  };
  const Value pai = with(small_experiment(), "layout", "/ml");
  EXPECT_FALSE(installs(small_experiment()));
  EXPECT_TRUE(installs(with(small_experiment(), "environment.requirements", "install")));
  EXPECT_FALSE(installs(with(small_experiment(), "environment.requirements", "ignore")));
  EXPECT_TRUE(installs(pai));
  EXPECT_FALSE(installs(with(pai, "environment.requirements", "ignore")));
  EXPECT_TRUE(installs(with(pai, "environment.image", "a"))) << "another field of the section";
  EXPECT_NE(problems_of(with(small_experiment(), "environment.requirements", "yes")).find("install"),
            std::string::npos);
}

TEST(KeepFiles, HasALimitInMegabytes) {
  EXPECT_EQ(accepted(small_experiment()).program.keep_files.max_mb, 500U);
  for (const std::int64_t limit : {0, 20}) {
    const ParsedExperiment parsed = accepted(with(small_experiment(), "keep_files.max_mb", Value(limit)));
    EXPECT_EQ(parsed.program.keep_files.max_mb, static_cast<std::uint64_t>(limit));
    const auto again = parse_submission(to_value(*parsed.config), test_registry(), "", 0);
    EXPECT_EQ(again.program.keep_files.max_mb, static_cast<std::uint64_t>(limit));
  }
  const std::string negative = problems_of(with(small_experiment(), "keep_files.max_mb", Value(-1)));
  EXPECT_NE(negative.find("keep_files.max_mb"), std::string::npos) << negative;
  const std::string unknown = problems_of(with(small_experiment(), "keep_files.max_gb", Value(1)));
  EXPECT_NE(unknown.find("max_mb"), std::string::npos) << unknown;
}

TEST(LogStorage, IsTheDaemonOrTheWorker) {
  EXPECT_EQ(accepted(small_experiment()).program.log_storage, LogStorage::daemon);
  EXPECT_EQ(accepted(with(small_experiment(), "log_storage", nullptr)).program.log_storage,
            LogStorage::daemon);
  const ParsedExperiment parsed = accepted(with(small_experiment(), "log_storage", "worker"));
  EXPECT_EQ(parsed.program.log_storage, LogStorage::worker);
  const auto again = parse_submission(to_value(*parsed.config), test_registry(), "", 0);
  EXPECT_EQ(again.program.log_storage, LogStorage::worker);
  const std::string problems = problems_of(with(small_experiment(), "log_storage", "checkpoint_storage"));
  EXPECT_NE(problems.find("log_storage"), std::string::npos) << problems;
  EXPECT_NE(problems.find("daemon"), std::string::npos) << problems;
}

TEST(Environment, RejectsReservedNames) {
  const std::string allowed =
      " (any name but the loader's (LD_…) and the worker's own (HPSEARCH_…, DET_…, PAI_…, "
      "CUDA_VISIBLE_DEVICES and its "
      "kin))\n";
  EXPECT_EQ(problems_of(with(
                small_experiment(), "environment.environment_variables",
                Value::List{"LD_PRELOAD=x", "HPSEARCH_LENGTH=1", "DET_MASTER=x", "CUDA_VISIBLE_DEVICES=0"})),
            "environment.environment_variables[0]: sets LD_PRELOAD" + allowed +
                "environment.environment_variables[1]: sets HPSEARCH_LENGTH" + allowed +
                "environment.environment_variables[2]: sets DET_MASTER" + allowed +
                "environment.environment_variables[3]: sets CUDA_VISIBLE_DEVICES" + allowed);
}

TEST(Environment, RejectsInvalidVariables) {
  EXPECT_EQ(
      problems_of(with(small_experiment(), "environment.environment_variables",
                       Value::List{"A", "1A=2", "=x", 3, std::string("B=a\0b", 5)})),
      "environment.environment_variables[0]: is \"A\" (NAME=VALUE)\n"
      "environment.environment_variables[1]: has the name \"1A\" (letters, digits and _, not starting with a "
      "digit)\n"
      "environment.environment_variables[2]: has the name \"\" (letters, digits and _, not starting with a "
      "digit)\n"
      "environment.environment_variables[3]: is 3 (NAME=VALUE)\n"
      "environment.environment_variables[4]: holds a zero byte (text)\n");
  EXPECT_EQ(
      problems_of(with(small_experiment(), "environment.environment_variables", Value::Map{{"A", true}})),
      "environment.environment_variables.A: is true (a string; put it in quotes)\n");
  EXPECT_EQ(problems_of(with(small_experiment(), "environment.environment_variables",
                             Value::Map{{"cpu", Value::List{"A=1"}}, {"cuda", Value::List{"A=2"}}})),
            "environment.environment_variables.cuda[0]: sets A to another value than a list above (one "
            "value for all kinds of devices; hpsearch does not distinguish them)\n");
}

TEST(Environment, LastOfTwoValuesIsUsedWithANote) {
  const ParsedExperiment parsed = read_experiment(
      with(small_experiment(), "environment.environment_variables", Value::List{"A=1", "A=2"}));
  ASSERT_TRUE(parsed.config);
  EXPECT_EQ(parsed.program.environment.environment_variables.at("A"), "2");
  EXPECT_EQ(lines(parsed.notes),
            "environment.environment_variables[1]: sets A again; the last value is used\n");
}

TEST(Environment, AcceptsTheMisspelledRegistryLogin) {
  const ParsedExperiment parsed =
      accepted(with(small_experiment(), "environment.registrt_auth", Value::Map{{"username", "u"}}));
  EXPECT_EQ(lines(parsed.notes),
            "environment.registrt_auth: read as `registry_auth`\n"
            "environment.registry_auth: has no effect here: the container runtime's own login on each worker "
            "counts\n");
}

}  // namespace
}  // namespace hpsearch::jobs

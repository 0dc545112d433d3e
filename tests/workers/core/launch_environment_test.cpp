#include "hpsearch/workers/core/launch_environment.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hpsearch::workers {
namespace {

using engine::AttemptKey;
using engine::AttemptNumber;
using engine::Entrypoint;
using engine::ExperimentId;
using engine::LaunchSpec;
using engine::LeaseId;
using engine::SlotIndex;
using engine::TrialId;
using engine::TrialNumber;
using engine::Units;
using engine::Value;

using Argv = std::vector<std::string>;

AttemptPlaces places() {
  return {.work_directory = "/a/work",
          .checkpoint_directory = "/a/checkpoint",
          .output_directory = "/a/output",
          .params_file = "/a/params.json",
          .socket = "/a/socket"};
}

LaunchSpec spec_of(Entrypoint entrypoint) {
  LaunchSpec spec;
  spec.key = AttemptKey{ExperimentId{3}, TrialNumber{17}, AttemptNumber{2}, LeaseId{99}};
  spec.trial_id = TrialId{41};
  spec.experiment_name = "digits";
  spec.slots = {SlotIndex{1}};
  spec.entrypoint = std::move(entrypoint);
  spec.hparams = Value::Map{{"lr", -1e-05},
                            {"name", "it's a $test"},
                            {"optimizer", Value::Map{{"momentum", 0.9}, {"nesterov", true}}},
                            {"units", 64}};
  spec.length = Units{9};
  spec.unit = "epochs";
  spec.trial_seed = 123;
  spec.metric = "val_acc";
  return spec;
}

Launch plan(const LaunchSpec& spec, const LentMachine& machine = {}) {
  const auto launch = plan_launch(spec, places(), machine);
  EXPECT_TRUE(launch.has_value()) << launch.error().message;
  return launch ? *launch : Launch{};
}

std::string problem_of(const LaunchSpec& spec) {
  const auto launch = plan_launch(spec, places(), {});
  EXPECT_FALSE(launch.has_value());
  return launch ? "" : launch.error().message;
}

TEST(ArgumentText, IsPythonsStrWithoutExponentBelowZero) {
  EXPECT_EQ(argument_text(true), "True");
  EXPECT_EQ(argument_text(64), "64");
  EXPECT_EQ(argument_text(1.0), "1.0");
  EXPECT_EQ(argument_text(1e-05), "1e-05");
  EXPECT_EQ(argument_text(-1e-05), "-0.00001");
  EXPECT_EQ(argument_text(-1.5e-07), "-0.00000015");
  EXPECT_EQ(argument_text(-1e16), "-10000000000000000.0");
  EXPECT_EQ(argument_text(-1.2345678901234567e20), "-123456789012345670000.0");
  EXPECT_EQ(argument_text(-0.001), "-0.001");
  EXPECT_EQ(argument_text("a b"), "a b");
}

TEST(ShellWord, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(shell_word("0.001"), "0.001");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

TEST(Entrypoints, ListItemsAreReplacedInPlace) {
  const Launch launch =
      plan(spec_of({Argv{"python3", "train.py", "--lr={lr}", "{name}", "{optimizer.momentum}",
                         "{checkpoint_dir}/x", "{output_dir}", "{trial_id}"}}));
  EXPECT_EQ(launch.argv, (Argv{"python3", "train.py", "--lr=-0.00001", "it's a $test", "0.9",
                               "/a/checkpoint/x", "/a/output", "41"}));
}

TEST(Entrypoints, ArgsBecomeItemsOfTheirOwn) {
  EXPECT_EQ(plan(spec_of({Argv{"p", "{args}"}})).argv,
            (Argv{"p", "--lr", "-0.00001", "--name", "it's a $test", "--optimizer.momentum", "0.9",
                  "--optimizer.nesterov", "True", "--units", "64"}));
  EXPECT_EQ(plan(spec_of({Argv{"p", "{args_eq}"}})).argv,
            (Argv{"p", "--lr=-0.00001", "--name=it's a $test", "--optimizer.momentum=0.9",
                  "--optimizer.nesterov=True", "--units=64"}));
}

TEST(Entrypoints, LineRunsInAShellWithOneWordPerValue) {
  const Launch launch =
      plan(spec_of({std::string("python3 train.py --name {name} {args_eq} && echo {{done}}")}));
  EXPECT_EQ(launch.argv,
            (Argv{"/bin/sh", "-c",
                  "python3 train.py --name 'it'\\''s a $test' --lr=-0.00001 '--name=it'\\''s a $test' "
                  "--optimizer.momentum=0.9 --optimizer.nesterov=True --units=64 && echo {done}"}));
}

TEST(Entrypoints, TheShellsOwnBracesStay) {
  const std::string line = "echo ${HOME} {1,2} { ls; } ${X:-y} {} $HPSEARCH_PARAMS";
  EXPECT_EQ(plan(spec_of({line})).argv[2], line);
}

TEST(Entrypoints, UnknownNamesAreRefusedWithTheNearestKnownOne) {
  const std::string problem = problem_of(spec_of({std::string("train {unit}")}));
  EXPECT_NE(problem.find("{unit}"), std::string::npos) << problem;
  EXPECT_NE(problem.find("did you mean {units}"), std::string::npos) << problem;
  EXPECT_NE(problem_of(spec_of({Argv{"p", "x{args}"}})).find("item of its own"), std::string::npos);
}

TEST(Entrypoints, EmptyOnesAreRefused) {
  EXPECT_NE(problem_of(spec_of({std::string(" ")})).find("empty"), std::string::npos);
  EXPECT_NE(problem_of(spec_of({Argv{}})).find("names no program"), std::string::npos);
}

TEST(Environment, TellsTheProgramWhoItIs) {
  LaunchSpec spec = spec_of({Argv{"p"}});
  spec.latest_checkpoint = "/c/3/17/1-3";
  const auto environment = plan(spec).environment;
  EXPECT_EQ(environment.at("HPSEARCH_EXPERIMENT_ID"), "3");
  EXPECT_EQ(environment.at("HPSEARCH_TRIAL_ID"), "41");
  EXPECT_EQ(environment.at("HPSEARCH_TRIAL_NUMBER"), "17");
  EXPECT_EQ(environment.at("HPSEARCH_ATTEMPT"), "2");
  EXPECT_EQ(environment.at("HPSEARCH_TRIAL_SEED"), "123");
  EXPECT_EQ(environment.at("HPSEARCH_LENGTH"), "9");
  EXPECT_EQ(environment.at("HPSEARCH_UNIT"), "epochs");
  EXPECT_EQ(environment.at("HPSEARCH_CHECKPOINT_DIR"), "/a/checkpoint");
  EXPECT_EQ(environment.at("HPSEARCH_LATEST_CHECKPOINT"), "/c/3/17/1-3");
  EXPECT_EQ(environment.at("HPSEARCH_SOCKET"), "/a/socket");
  EXPECT_EQ(environment.at("HPSEARCH_PARAMS_FILE"), "/a/params.json");
  EXPECT_EQ(environment.at("DET_TRIAL_ID"), "41");
  EXPECT_EQ(environment.at("DET_TRIAL_RUN_ID"), "2");
  EXPECT_EQ(environment.at("DET_LATEST_CHECKPOINT"), "/c/3/17/1-3");
  EXPECT_EQ(environment.at("PYTHONUNBUFFERED"), "1");
}

TEST(Environment, ParametersKeepTheirTypes) {
  const Launch launch = plan(spec_of({Argv{"p"}}));
  EXPECT_EQ(launch.params_json,
            R"({"lr":-1e-05,"name":"it's a $test","optimizer":{"momentum":0.9,"nesterov":true},"units":64})");
  EXPECT_EQ(launch.environment.at("HPSEARCH_PARAMS"), launch.params_json);
  EXPECT_EQ(launch.environment.at("DET_HPARAMS"), launch.params_json);
}

TEST(Environment, AFreshStartHasNoCheckpoint) {
  const auto environment = plan(spec_of({Argv{"p"}})).environment;
  EXPECT_EQ(environment.at("HPSEARCH_LATEST_CHECKPOINT"), "");
  EXPECT_FALSE(environment.contains("DET_LATEST_CHECKPOINT"));
}

TEST(Environment, TheWorkersOwnVariablesDoNotLeak) {
  LentMachine machine;
  machine.environment = {{"PATH", "/bin"},
                         {"HPSEARCH_TRIAL_ID", "7"},
                         {"HPSEARCH_SECRET", "x"},
                         {"DET_MASTER", "elsewhere"},
                         {"DET_LATEST_CHECKPOINT", "old"}};
  const auto environment = plan(spec_of({Argv{"p"}}), machine).environment;
  EXPECT_EQ(environment.at("PATH"), "/bin");
  EXPECT_EQ(environment.at("HPSEARCH_TRIAL_ID"), "41");
  EXPECT_FALSE(environment.contains("HPSEARCH_SECRET"));
  EXPECT_FALSE(environment.contains("DET_MASTER"));
  EXPECT_FALSE(environment.contains("DET_LATEST_CHECKPOINT"));
}

TEST(Environment, ThreadsAreTheSlotsShareUnlessTheExperimentSaysSo) {
  LentMachine machine{.slots = 4, .cores = 16, .devices = {}, .environment = {{"OMP_NUM_THREADS", "99"}}};
  LaunchSpec spec = spec_of({Argv{"p"}});
  EXPECT_EQ(plan(spec, machine).environment.at("OMP_NUM_THREADS"), "4");
  spec.slots = {SlotIndex{0}, SlotIndex{1}};
  EXPECT_EQ(plan(spec, machine).environment.at("OMP_NUM_THREADS"), "8");
  machine.cores = 1;
  EXPECT_EQ(plan(spec, machine).environment.at("OMP_NUM_THREADS"), "1");
  spec.environment_variables["OMP_NUM_THREADS"] = "3";
  EXPECT_EQ(plan(spec, machine).environment.at("OMP_NUM_THREADS"), "3");
}

TEST(Environment, GpuSlotsAreNamedByDevice) {
  const LentMachine machine{.slots = 2, .cores = 8, .devices = {"2", "5"}, .environment = {}};
  const auto environment = plan(spec_of({Argv{"p"}}), machine).environment;
  EXPECT_EQ(environment.at("CUDA_VISIBLE_DEVICES"), "5");
  EXPECT_EQ(environment.at("NVIDIA_VISIBLE_DEVICES"), "5");
  EXPECT_EQ(environment.at("HPSEARCH_SLOT_IDS"), "1");
  EXPECT_EQ(environment.at("DET_SLOT_IDS"), "[1]");
}

TEST(Environment, ProcessorSlotsSeeNoGpu) {
  const LentMachine machine{
      .slots = 2, .cores = 8, .devices = {}, .environment = {{"NVIDIA_VISIBLE_DEVICES", "all"}}};
  const auto environment = plan(spec_of({Argv{"p"}}), machine).environment;
  EXPECT_EQ(environment.at("CUDA_VISIBLE_DEVICES"), "");
  EXPECT_FALSE(environment.contains("NVIDIA_VISIBLE_DEVICES"));
  EXPECT_EQ(environment.at("HPSEARCH_SLOT_IDS"), "");
  EXPECT_EQ(environment.at("DET_SLOT_IDS"), "[]");
}

TEST(Environment, TheExperimentCannotTakeAnotherIdentity) {
  LaunchSpec spec = spec_of({Argv{"p"}});
  spec.environment_variables = {{"HPSEARCH_TRIAL_ID", "1"}, {"MY_OWN", "yes"}, {"PYTHONUNBUFFERED", "0"}};
  const auto environment = plan(spec).environment;
  EXPECT_EQ(environment.at("HPSEARCH_TRIAL_ID"), "41");
  EXPECT_EQ(environment.at("MY_OWN"), "yes");
  EXPECT_EQ(environment.at("PYTHONUNBUFFERED"), "1");
}

}  // namespace
}  // namespace hpsearch::workers

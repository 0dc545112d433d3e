#include "hpsearch/workers/core/launch/launch_environment.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hpsearch::workers {
namespace {

using engine::AttemptKey;
using engine::AttemptNumber;
using engine::ExperimentId;
using engine::LeaseId;
using engine::SlotIndex;
using engine::TrialId;
using engine::TrialNumber;
using engine::Units;
using engine::Value;
using jobs::Entrypoint;
using jobs::LaunchSpec;

using Argv = std::vector<std::string>;

AttemptPlaces places() {
  return {.work_directory = "/a/work",
          .checkpoint_directory = "/a/checkpoint",
          .output_directory = "/a/output",
          .params_file = "/a/params.json",
          .socket = "/a/socket",
          .ml = "/a/ml",
          .inputs = {{"data_url", "/a/ml/input/data/data_url/"}, {"test", "/a/ml/input/data/test/test.csv"}},
          .outputs = {{"model", "/a/ml/output/model/"}, {"train_url", "/a/ml/output/train_url/"}}};
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

TEST(Entrypoints, ListItemsAreReplacedInPlace) {
  const Launch launch =
      plan(spec_of({Argv{"python3", "train.py", "--lr={lr}", "{name}", "{optimizer.momentum}",
                         "{checkpoint_dir}/x", "{output_dir}", "{trial_id}"}}));
  EXPECT_EQ(launch.program.argv, (Argv{"python3", "train.py", "--lr=-0.00001", "it's a $test", "0.9",
                                       "/a/checkpoint/x", "/a/output", "41"}));
}

TEST(Entrypoints, ArgsBecomeSeparateItems) {
  EXPECT_EQ(plan(spec_of({Argv{"p", "{args}"}})).program.argv,
            (Argv{"p", "--lr", "-0.00001", "--name", "it's a $test", "--optimizer.momentum", "0.9",
                  "--optimizer.nesterov", "True", "--units", "64"}));
  EXPECT_EQ(plan(spec_of({Argv{"p", "{args_eq}"}})).program.argv,
            (Argv{"p", "--lr=-0.00001", "--name=it's a $test", "--optimizer.momentum=0.9",
                  "--optimizer.nesterov=True", "--units=64"}));
}

TEST(Entrypoints, ArgsCanStandWithoutHyphensOrAsJson) {
  LaunchSpec spec = spec_of({Argv{"p", "{args_no_hyphens}", "--config={args_json}"}});
  spec.hparams =
      Value::Map{{"layers", Value::List{64, 32}}, {"lr", 0.1}, {"net", Value::Map{{"bias", true}}}};
  spec.contract.bool_styles = {{"net.bias", engine::BoolStyle::flag}};
  spec.contract.inputs = {{"data_url", "/data", jobs::PassedAs::argument}};
  EXPECT_EQ(plan(spec).program.argv,
            (Argv{"p", "layers=[64,32]", "lr=0.1", "net.bias=True", "data_url=/a/ml/input/data/data_url/",
                  R"(--config={"layers":[64,32],"lr":0.1,"net":{"bias":true}})"}));
  spec.entrypoint = {std::string("p {args_no_hyphens} {args_json}")};
  EXPECT_EQ(plan(spec).program.argv[2],
            "p layers=\"$HPSEARCH_HP_LAYERS\" lr=\"$HPSEARCH_HP_LR\" net.bias=\"$HPSEARCH_HP_NET_BIAS\" "
            "data_url=\"$PAI_INPUT_DATA_URL\" \"$HPSEARCH_PARAMS\"");
  spec.entrypoint = {Argv{"p", "{args_eq}"}};
  EXPECT_EQ(plan(spec).program.argv, (Argv{"p", "--layers=[64,32]", "--lr=0.1", "--net.bias",
                                           "--data_url=/a/ml/input/data/data_url/"}));
}

TEST(Entrypoints, GroupsAreFoundUnderNamesWithDots) {
  LaunchSpec spec = spec_of({Argv{"p", "{a.b}", "{a.b.c}", "{a.d}", "{a}"}});
  spec.hparams = Value::Map{{"a", Value::Map{{"d", 1}}}, {"a.b", Value::Map{{"c", Value::Map{}}}}};
  EXPECT_EQ(plan(spec).program.argv, (Argv{"p", R"({"c":{}})", "{}", "1", R"({"d":1})"}));
}

TEST(Entrypoints, LineHasAVariableForEachValue) {
  const Launch launch = plan(spec_of(
      {std::string("python3 train.py --name {name} \"{optimizer}\" {args_eq} {lr} && echo {{done}}")}));
  EXPECT_EQ(launch.program.argv,
            (Argv{"/bin/sh", "-c",
                  "python3 train.py --name \"$HPSEARCH_HP_NAME\" \"${HPSEARCH_HP_OPTIMIZER}\" "
                  "--lr=\"$HPSEARCH_ARG_1\" --name=\"$HPSEARCH_HP_NAME\" "
                  "--optimizer.momentum=\"$HPSEARCH_HP_OPTIMIZER_MOMENTUM\" "
                  "--optimizer.nesterov=\"$HPSEARCH_HP_OPTIMIZER_NESTEROV\" --units=\"$HPSEARCH_HP_UNITS\" "
                  "\"$HPSEARCH_ARG_1\" && echo {done}"}));
  const auto& environment = launch.program.environment;
  EXPECT_EQ(environment.at("HPSEARCH_HP_LR"), "-1e-05");
  EXPECT_EQ(environment.at("HPSEARCH_ARG_1"), "-0.00001") << "argparse takes -1e-05 for an option";
  EXPECT_EQ(environment.at("HPSEARCH_HP_NAME"), "it's a $test");
  EXPECT_EQ(environment.at("HPSEARCH_HP_OPTIMIZER"), R"({"momentum":0.9,"nesterov":true})");
}

TEST(Entrypoints, MemberWithTheVariableOfAnotherNameGetsItsOwn) {
  LaunchSpec spec = spec_of({std::string("p {net.depth} {net_depth}")});
  spec.hparams = Value::Map{{"net", Value::Map{{"depth", 3}}}, {"net_depth", 4}};
  const Launch launch = plan(spec);
  EXPECT_EQ(launch.program.argv[2], "p \"$HPSEARCH_ARG_1\" \"$HPSEARCH_HP_NET_DEPTH\"");
  EXPECT_EQ(launch.program.environment.at("HPSEARCH_ARG_1"), "3");
}

TEST(Entrypoints, ChannelsPassedAsArgumentsFollowTheHyperparameters) {
  LaunchSpec spec = spec_of({Argv{"python3", "train.py", "{args_eq}"}});
  spec.hparams = Value::Map{{"lr", 0.1}};
  spec.contract.inputs = {{"data_url", "/data", jobs::PassedAs::argument}, {"test", "/t.csv"}};
  spec.contract.outputs = {{"train_url", "/results", jobs::PassedAs::argument}};
  EXPECT_EQ(plan(spec).program.argv,
            (Argv{"python3", "train.py", "--lr=0.1", "--data_url=/a/ml/input/data/data_url/",
                  "--train_url=/a/ml/output/train_url/"}));
  spec.entrypoint = {Argv{"p", "{args}"}};
  EXPECT_EQ(plan(spec).program.argv, (Argv{"p", "--lr", "0.1", "--data_url", "/a/ml/input/data/data_url/",
                                           "--train_url", "/a/ml/output/train_url/"}));
  spec.entrypoint = {Argv{"p", "{inputs.test}", "{outputs.model}best"}};
  EXPECT_EQ(plan(spec).program.argv,
            (Argv{"p", "/a/ml/input/data/test/test.csv", "/a/ml/output/model/best"}));
}

TEST(Entrypoints, ChannelsPassedAsVariablesKeepTheirName) {
  LaunchSpec spec = spec_of({Argv{"p"}});
  spec.contract.inputs = {{"data_url", "/data", jobs::PassedAs::variable}, {"test", "/t.csv"}};
  const auto environment = plan(spec).program.environment;
  EXPECT_EQ(environment.at("data_url"), "/a/ml/input/data/data_url/");
  EXPECT_FALSE(environment.contains("test"));
}

TEST(Entrypoints, BracesOfTheShellStay) {
  const std::string line = "echo ${HOME} {1,2} { ls; } ${X:-y} {} $HPSEARCH_PARAMS";
  EXPECT_EQ(plan(spec_of({line})).program.argv[2], line);
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

TEST(Environment, IdentifiesTheProgram) {
  LaunchSpec spec = spec_of({Argv{"p"}});
  spec.latest_checkpoint = "/c/3/17/1-3";
  const auto environment = plan(spec).program.environment;
  EXPECT_EQ(environment.at("HPSEARCH_EXPERIMENT_ID"), "3");
  EXPECT_EQ(environment.at("HPSEARCH_TRIAL_ID"), "41");
  EXPECT_EQ(environment.at("HPSEARCH_TRIAL_NUMBER"), "17");
  EXPECT_EQ(environment.at("HPSEARCH_ATTEMPT"), "2");
  EXPECT_EQ(environment.at("HPSEARCH_TRIAL_SEED"), "123");
  EXPECT_EQ(environment.at("HPSEARCH_LENGTH"), "9");
  EXPECT_EQ(environment.at("HPSEARCH_MAX_LENGTH"), std::to_string(count(spec.max_length)));
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
  const std::string params =
      R"({"lr":-1e-05,"name":"it's a $test","optimizer":{"momentum":0.9,"nesterov":true},"units":64})";
  EXPECT_EQ(launch.files.at("params.json"), params + "\n");
  EXPECT_EQ(launch.program.environment.at("HPSEARCH_PARAMS"), params);
  EXPECT_EQ(launch.program.environment.at("DET_HPARAMS"), params);
}

TEST(Environment, HasPaisVariables) {
  LaunchSpec spec = spec_of({Argv{"p"}});
  Launch launch = plan(spec);
  EXPECT_EQ(launch.program.environment.at("PAI_WORKING_DIR"), "/a/ml/usercode");
  EXPECT_EQ(launch.program.environment.at("PAI_CONFIG_DIR"), "/a/ml/input/config/");
  EXPECT_EQ(launch.program.environment.at("PAI_INPUT_DATA_URL"), "/a/ml/input/data/data_url/");
  EXPECT_EQ(launch.program.environment.at("PAI_INPUT_TEST"), "/a/ml/input/data/test/test.csv");
  EXPECT_EQ(launch.program.environment.at("PAI_OUTPUT_MODEL"), "/a/ml/output/model/");
  EXPECT_EQ(
      launch.program.environment.at("PAI_HPS"),
      R"({"lr": -1e-05, "name": "it's a $test", "optimizer.momentum": 0.9, "optimizer.nesterov": true, )"
      R"("units": 64})");
  EXPECT_EQ(launch.program.environment.at("PAI_HPS_LR"), "-1e-05");
  EXPECT_EQ(launch.program.environment.at("PAI_HPS_OPTIMIZER_NESTEROV"), "True");
  EXPECT_EQ(launch.program.environment.at("PAI_USER_ARGS"),
            "--lr -0.00001 --name 'it'\"'\"'s a $test' --optimizer.momentum 0.9 --optimizer.nesterov True "
            "--units 64");
  EXPECT_EQ(launch.files.at("ml/input/config/hyperparameters.json"),
            R"({"lr": "-1e-05", "name": "it's a $test", "optimizer.momentum": "0.9", )"
            R"("optimizer.nesterov": "True", "units": "64"})"
            "\n");
  spec.contract.pai_hps_strings = true;
  launch = plan(spec);
  EXPECT_EQ(launch.program.environment.at("PAI_HPS") + "\n",
            launch.files.at("ml/input/config/hyperparameters.json"));
}

TEST(Environment, HasModelArtsVariables) {
  const LentMachine machine{.slots = 2, .cores = 8, .devices = {"2", "5"}, .environment = {}};
  const auto environment = plan(spec_of({Argv{"p"}}), machine).program.environment;
  EXPECT_EQ(environment.at("MA_HOME"), "/a/ml");
  EXPECT_EQ(environment.at("MA_JOB_DIR"), "/a/ml/input/job");
  EXPECT_EQ(environment.at("MA_SCRIPT_INTERPRETER"), "");
  EXPECT_EQ(environment.at("MA_LOG_DIR"), "/a/ml/output/logs");
  EXPECT_EQ(environment.at("MA_NUM_GPUS"), "1");
  EXPECT_EQ(environment.at("MA_NUM_HOSTS"), "1");
  EXPECT_EQ(environment.at("MA_TASK_NAME"), "worker");
  EXPECT_EQ(environment.at("VC_TASK_INDEX"), "0");
  EXPECT_EQ(environment.at("VK_TASK_INDEX"), "0");
  EXPECT_EQ(environment.at("VC_WORKER_HOSTS"), "127.0.0.1");
}

TEST(Environment, OneFileHasTheWholeJob) {
  LaunchSpec spec = spec_of({Argv{"p", "{lr}"}});
  spec.latest_step = Units{3};
  const LentMachine machine{.slots = 2, .cores = 8, .devices = {"2", "5"}, .environment = {}};
  EXPECT_EQ(
      plan(spec, machine).files.at("ml/input/config/training_job.json"),
      R"({"command":["p","-0.00001"],"context":{"directory":")" + spec.context_directory +
          R"(","sha256":""},"data":{},"experiment":{"id":3,"name":"digits"},"hyperparameters":)"
          R"({"lr":-1e-05,"name":"it's a $test","optimizer":{"momentum":0.9,"nesterov":true},"units":64},)"
          R"("inputs":{"data_url":"/a/ml/input/data/data_url/","test":"/a/ml/input/data/test/test.csv"},)"
          R"("length":{"done":3,"unit":"epochs","until":9},"metric":"val_acc","outputs":{"model":)"
          R"("/a/ml/output/model/","train_url":"/a/ml/output/train_url/"},"resources":{"devices":["5"],)"
          R"("instance_count":1,"instance_index":0,"slots":[1]},"trial":{"attempt":2,"id":41,"number":17,)"
          R"("seed":123},"version":1})"
          "\n");
}

TEST(Environment, TooLongVariableIsRejectedByName) {
  LaunchSpec spec = spec_of({Argv{"p"}});
  spec.hparams = Value::Map{{"prompt", std::string(200'000, 'x')}};
  EXPECT_NE(problem_of(spec).find("would take 200"), std::string::npos);
  spec.entrypoint = {Argv{"p", "{prompt}"}};
  EXPECT_NE(problem_of(spec).find("argument 1 would take 200000 bytes"), std::string::npos);
}

TEST(Environment, TooLongPaiVariablesAreLeftOut) {
  LaunchSpec spec = spec_of({Argv{"p", "{quotes}"}});
  spec.hparams = Value::Map{{"quotes", std::string(60'000, '\'')}, {"lr", 0.1}};
  auto environment = plan(spec).program.environment;
  EXPECT_FALSE(environment.contains("PAI_USER_ARGS"));
  EXPECT_EQ(environment.at("PAI_HPS_QUOTES").size(), 60'000U);
  EXPECT_EQ(environment.at("PAI_HPS_LR"), "0.1");
  // 131,072 bytes with `PAI_USER_ARGS=--quotes ''` and the zero byte; a quote takes five.
  spec.hparams = Value::Map{{"quotes", std::string(26'209, '\'') + " "}};
  EXPECT_EQ(plan(spec).program.environment.at("PAI_USER_ARGS").size(), 131'072U - 15);
  spec.hparams = Value::Map{{"quotes", std::string(26'209, '\'') + "  "}};
  EXPECT_FALSE(plan(spec).program.environment.contains("PAI_USER_ARGS"));
  spec.entrypoint = {std::string("eval \"p $PAI_USER_ARGS\"")};
  EXPECT_EQ(
      problem_of(spec),
      "the variable PAI_USER_ARGS would take 131072 bytes; a program can be given at most 131071 in one "
      "piece. hyperparameters.json has long values, or put them into a file of the context directory");
  spec.entrypoint = {std::string("p $PAI_USER_ARGS_2")};
  plan(spec);
}

TEST(Environment, FreshStartHasNoCheckpoint) {
  const auto environment = plan(spec_of({Argv{"p"}})).program.environment;
  EXPECT_EQ(environment.at("HPSEARCH_LATEST_CHECKPOINT"), "");
  EXPECT_FALSE(environment.contains("DET_LATEST_CHECKPOINT"));
}

TEST(Environment, WorkersOwnVariablesAreNotPassed) {
  LentMachine machine;
  machine.environment = {{"PATH", "/bin"},
                         {"HPSEARCH_TRIAL_ID", "7"},
                         {"HPSEARCH_SECRET", "x"},
                         {"DET_MASTER", "elsewhere"},
                         {"RANK", "3"},
                         {"TF_CONFIG", "{}"},
                         {"PAI_HPS_OLD", "1"},
                         {"DET_LATEST_CHECKPOINT", "old"}};
  const auto environment = plan(spec_of({Argv{"p"}}), machine).program.environment;
  EXPECT_EQ(environment.at("PATH"), "/bin");
  EXPECT_EQ(environment.at("HPSEARCH_TRIAL_ID"), "41");
  EXPECT_FALSE(environment.contains("HPSEARCH_SECRET"));
  EXPECT_FALSE(environment.contains("DET_MASTER"));
  EXPECT_FALSE(environment.contains("DET_LATEST_CHECKPOINT"));
  EXPECT_FALSE(environment.contains("RANK"));
  EXPECT_FALSE(environment.contains("TF_CONFIG"));
  EXPECT_FALSE(environment.contains("PAI_HPS_OLD"));
}

// A worker started by srun or mpirun is a rank of that job; its programs aren't.
TEST(Environment, WorkersOwnRankIsNotPassed) {
  LentMachine machine;
  machine.slots = 1;
  machine.cores = 1;
  machine.environment = {
      {"PMI_RANK", "3"}, {"OMPI_COMM_WORLD_RANK", "3"}, {"SLURM_PROCID", "3"}, {"SLURM_JOB_ID", "9"}};
  const auto environment = plan(spec_of({Argv{"p"}}), machine).program.environment;
  EXPECT_FALSE(environment.contains("PMI_RANK"));
  EXPECT_FALSE(environment.contains("OMPI_COMM_WORLD_RANK"));
  EXPECT_FALSE(environment.contains("SLURM_PROCID"));
  EXPECT_EQ(environment.at("SLURM_JOB_ID"), "9");
}

TEST(Environment, ThreadsFollowFromSlotsUnlessSet) {
  LentMachine machine{.slots = 4, .cores = 16, .devices = {}, .environment = {{"OMP_NUM_THREADS", "99"}}};
  LaunchSpec spec = spec_of({Argv{"p"}});
  EXPECT_EQ(plan(spec, machine).program.environment.at("OMP_NUM_THREADS"), "4");
  spec.slots = {SlotIndex{0}, SlotIndex{1}};
  EXPECT_EQ(plan(spec, machine).program.environment.at("OMP_NUM_THREADS"), "8");
  machine.cores = 1;
  EXPECT_EQ(plan(spec, machine).program.environment.at("OMP_NUM_THREADS"), "1");
  spec.environment_variables["OMP_NUM_THREADS"] = "3";
  EXPECT_EQ(plan(spec, machine).program.environment.at("OMP_NUM_THREADS"), "3");
}

LentMachine machine_with(const jobs::DeviceKind& kind, std::map<std::string, std::string> environment = {}) {
  return {.slots = 2,
          .cores = 8,
          .devices = {"2", "5"},
          .environment = std::move(environment),
          .device_kind = kind};
}

TEST(Environment, GpuSlotsAreNamedByDevice) {
  const LentMachine machine = machine_with(*jobs::device_kind_named("nvidia"));
  const auto environment = plan(spec_of({Argv{"p"}}), machine).program.environment;
  EXPECT_EQ(environment.at("CUDA_VISIBLE_DEVICES"), "5");
  EXPECT_EQ(environment.at("NVIDIA_VISIBLE_DEVICES"), "5");
  EXPECT_EQ(environment.at("HPSEARCH_SLOT_IDS"), "1");
  EXPECT_EQ(environment.at("DET_SLOT_IDS"), "[1]");
}

TEST(Environment, DevicesAreListedInTheVariableOfTheirKindAndOthersAreHidden) {
  const std::map<std::string, std::string> inherited{{"CUDA_VISIBLE_DEVICES", "7"},
                                                     {"HIP_VISIBLE_DEVICES", "7"},
                                                     {"NVIDIA_VISIBLE_DEVICES", "all"},
                                                     {"ROCR_VISIBLE_DEVICES", "7"},
                                                     {"ASCEND_RT_VISIBLE_DEVICES", "7"}};
  const auto lent = [&](const char* kind) {
    return plan(spec_of({Argv{"p"}}), machine_with(*jobs::device_kind_named(kind), inherited))
        .program.environment;
  };
  const auto amd = lent("amd");
  EXPECT_EQ(amd.at("ROCR_VISIBLE_DEVICES"), "5");
  EXPECT_FALSE(amd.contains("HIP_VISIBLE_DEVICES")) << "it would select again among those of ROCR";
  EXPECT_FALSE(amd.contains("CUDA_VISIBLE_DEVICES")) << "HIP reads it, too";
  EXPECT_FALSE(amd.contains("NVIDIA_VISIBLE_DEVICES"));
  EXPECT_EQ(amd.at("ASCEND_RT_VISIBLE_DEVICES"), "");
  EXPECT_EQ(amd.at("HPSEARCH_SLOT_IDS"), "1");
  const auto ascend = lent("ascend");
  EXPECT_EQ(ascend.at("ASCEND_RT_VISIBLE_DEVICES"), "5");
  EXPECT_EQ(ascend.at("ROCR_VISIBLE_DEVICES"), "");
  EXPECT_EQ(ascend.at("CUDA_VISIBLE_DEVICES"), "");
  const auto nvidia = lent("nvidia");
  EXPECT_EQ(nvidia.at("ROCR_VISIBLE_DEVICES"), "");
  EXPECT_EQ(nvidia.at("CUDA_VISIBLE_DEVICES"), "5");
  LaunchSpec without = spec_of({Argv{"p"}});
  without.slots.clear();
  const auto none = plan(without, machine_with(*jobs::device_kind_named("amd"))).program.environment;
  EXPECT_EQ(none.at("ROCR_VISIBLE_DEVICES"), "") << "a trial without slots sees no device";
}

TEST(Environment, NumbersAscendWhereProgramsReadNoOtherOrder) {
  const auto lent = [](const char* kind) {
    LaunchSpec spec = spec_of({Argv{"p"}});
    spec.slots = {engine::SlotIndex(0), engine::SlotIndex(1), engine::SlotIndex(2)};
    LentMachine machine = machine_with(*jobs::device_kind_named(kind));
    machine.slots = 3;
    machine.devices = {"10", "9", "2"};
    return plan(spec, machine).program.environment;
  };
  EXPECT_EQ(lent("ascend").at("ASCEND_RT_VISIBLE_DEVICES"), "2,9,10");
  EXPECT_EQ(lent("nvidia").at("CUDA_VISIBLE_DEVICES"), "10,9,2");
}

TEST(Environment, GenericDevicesAreListedInTheirVariableAlone) {
  const auto environment =
      plan(spec_of({Argv{"p"}}), machine_with(jobs::generic_kind("HIP_VISIBLE_DEVICES"),
                                              {{"HIP_VISIBLE_DEVICES", "7"}, {"ROCR_VISIBLE_DEVICES", "1"}}))
          .program.environment;
  EXPECT_EQ(environment.at("HIP_VISIBLE_DEVICES"), "5");
  EXPECT_EQ(environment.at("ROCR_VISIBLE_DEVICES"), "1") << "it may be what the devices are reached through";
  EXPECT_FALSE(environment.contains("CUDA_VISIBLE_DEVICES"));
}

TEST(Environment, ProcessorSlotsSeeNoDevice) {
  const LentMachine machine{
      .slots = 2, .cores = 8, .devices = {}, .environment = {{"NVIDIA_VISIBLE_DEVICES", "all"}}};
  const auto environment = plan(spec_of({Argv{"p"}}), machine).program.environment;
  for (const char* variable : {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES"}) {
    EXPECT_EQ(environment.at(variable), "");
  }
  EXPECT_FALSE(environment.contains("NVIDIA_VISIBLE_DEVICES"));
  EXPECT_EQ(environment.at("HPSEARCH_SLOT_IDS"), "");
  EXPECT_EQ(environment.at("DET_SLOT_IDS"), "[]");
}

TEST(Environment, ExperimentCannotSetIdentityVariables) {
  LaunchSpec spec = spec_of({Argv{"p"}});
  spec.environment_variables = {{"HPSEARCH_TRIAL_ID", "1"}, {"MY_OWN", "yes"}, {"PYTHONUNBUFFERED", "0"}};
  const auto environment = plan(spec).program.environment;
  EXPECT_EQ(environment.at("HPSEARCH_TRIAL_ID"), "41");
  EXPECT_EQ(environment.at("MY_OWN"), "yes");
  EXPECT_EQ(environment.at("PYTHONUNBUFFERED"), "1");
}

}  // namespace
}  // namespace hpsearch::workers

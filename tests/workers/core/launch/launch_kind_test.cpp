#include "hpsearch/workers/core/adapters/launch_kinds/launch_kind.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "hpsearch/workers/core/launch/launch_environment.hpp"

namespace hpsearch::workers {
namespace {

using engine::SlotIndex;
using jobs::LaunchKind;
using jobs::LaunchSpec;
using jobs::RankLevel;
using Variables = std::map<std::string, std::string>;

LaunchSpec spec_of(LaunchKind kind, RankLevel level = RankLevel::node) {
  LaunchSpec spec;
  spec.launch = {kind, level};
  spec.slots = {SlotIndex{0}, SlotIndex{1}};
  return spec;
}

/// The second of three.
LaunchSpec second_of(LaunchKind kind, RankLevel level = RankLevel::node) {
  LaunchSpec spec = spec_of(kind, level);
  spec.rendezvous = {1, {"10.0.0.1", "10.0.0.2", "fd00::3"}, 23'500};
  return spec;
}

struct Expected {
  const char* name;
  LaunchSpec spec;
  Variables variables;
};

class LaunchKinds : public testing::TestWithParam<Expected> {};

TEST_P(LaunchKinds, SetExactlyTheirVariables) {
  EXPECT_EQ(launch_form(GetParam().spec, {.port = 40'000, .hostfile = "/ml/input/config/hostfile"}).variables,
            GetParam().variables);
}

INSTANTIATE_TEST_SUITE_P(
    Each, LaunchKinds,
    testing::Values(
        Expected{"Process", spec_of(LaunchKind::process), {}},
        Expected{"Determined", spec_of(LaunchKind::determined), {}},
        Expected{"PytorchAlone",
                 spec_of(LaunchKind::pytorch),
                 {{"RANK", "0"},
                  {"WORLD_SIZE", "1"},
                  {"MASTER_ADDR", "127.0.0.1"},
                  {"MASTER_PORT", "40000"},
                  {"NPROC_PER_NODE", "2"}}},
        Expected{"PytorchSecond",
                 second_of(LaunchKind::pytorch),
                 {{"RANK", "1"},
                  {"WORLD_SIZE", "3"},
                  {"MASTER_ADDR", "10.0.0.1"},
                  {"MASTER_PORT", "23500"},
                  {"NPROC_PER_NODE", "2"}}},
        Expected{"PytorchByProcess",
                 second_of(LaunchKind::pytorch, RankLevel::process),
                 {{"WORLD_SIZE", "6"},
                  {"LOCAL_WORLD_SIZE", "2"},
                  {"GROUP_RANK", "1"},
                  {"MASTER_ADDR", "10.0.0.1"},
                  {"MASTER_PORT", "23500"}}},
        Expected{"TensorflowAlone", spec_of(LaunchKind::tensorflow), {}},
        Expected{"TensorflowSecond",
                 second_of(LaunchKind::tensorflow),
                 {{"TF_CONFIG",
                   R"({"cluster":{"chief":["10.0.0.1:23500"],"worker":["10.0.0.2:23500","[fd00::3]:23500"]},)"
                   R"("environment":"cloud","task":{"index":0,"type":"worker"}})"}}},
        Expected{
            "XgboostAlone",
            spec_of(LaunchKind::xgboost),
            {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "40000"}}},
        Expected{"XgboostSecond",
                 second_of(LaunchKind::xgboost),
                 {{"RANK", "1"},
                  {"WORLD_SIZE", "3"},
                  {"MASTER_ADDR", "10.0.0.1"},
                  {"MASTER_PORT", "23500"},
                  {"WORKER_ADDRS", "10.0.0.2,fd00::3"},
                  {"WORKER_PORT", "23500"}}},
        Expected{"ElasticBatchSecond",
                 second_of(LaunchKind::elastic_batch),
                 {{"ELASTICBATCH_CONFIG", R"({"environment":"cloud","task":{"index":1,"type":"worker"}})"},
                  {"ElASTICBATCH_CONFIG", R"({"environment":"cloud","task":{"index":1,"type":"worker"}})"}}},
        Expected{"MpiAlone", spec_of(LaunchKind::mpi), {{"HPSEARCH_HOSTFILE", "/ml/input/config/hostfile"}}}),
    [](const auto& given) { return std::string(given.param.name); });

TEST(LaunchKind, FirstOfSeveralIsTensorflowsChief) {
  LaunchSpec spec = second_of(LaunchKind::tensorflow);
  spec.rendezvous.rank = 0;
  const std::string config = launch_form(spec, {}).variables.at("TF_CONFIG");
  EXPECT_NE(config.find(R"("task":{"index":0,"type":"chief"})"), std::string::npos) << config;
}

TEST(LaunchKind, TensorflowsRolesFollowFromTheRank) {
  LaunchSpec spec = spec_of(LaunchKind::tensorflow);
  spec.rendezvous = {0, {"a", "b", "c", "d", "e", "f"}, 23'500};
  spec.launch.roles = {2, 1};
  const char* const tasks[] = {"0,\"type\":\"chief\"", "0,\"type\":\"worker\"", "1,\"type\":\"worker\"",
                               "0,\"type\":\"ps\"",    "1,\"type\":\"ps\"",     "0,\"type\":\"evaluator\""};
  for (const char* const task : tasks) {
    EXPECT_EQ(launch_form(spec, {}).variables.at("TF_CONFIG"),
              R"({"cluster":{"chief":["a:23500"],"evaluator":["f:23500"],"ps":["d:23500","e:23500"],)"
              R"("worker":["b:23500","c:23500"]},"environment":"cloud","task":{"index":)" +
                  std::string(task) + "}}");
    ++spec.rendezvous.rank;
  }
  spec.rendezvous = {1, {"a", "b"}, 23'500};
  spec.launch.roles = {1, 0};
  EXPECT_EQ(launch_form(spec, {}).variables.at("TF_CONFIG"),
            R"({"cluster":{"chief":["a:23500"],"ps":["b:23500"]},"environment":"cloud",)"
            R"("task":{"index":0,"type":"ps"}})");
}

TEST(LaunchKind, MpiListsHostsAndStartsOnTheFirst) {
  LaunchSpec spec = second_of(LaunchKind::mpi);
  EXPECT_EQ(launch_form(spec, {}).hostfile, "10.0.0.1 slots=2\n10.0.0.2 slots=2\nfd00::3 slots=2\n");
  EXPECT_TRUE(only_lends_slots(spec));
  spec.rendezvous.rank = 0;
  EXPECT_FALSE(only_lends_slots(spec));
}

TEST(LaunchKind, CountsProcessRanksOverAllWorkers) {
  const LaunchForm form = launch_form(second_of(LaunchKind::pytorch, RankLevel::process), {});
  EXPECT_EQ(form.processes, 2U);
  EXPECT_EQ(form.first_rank, 2U);
}

Launch plan(LaunchSpec spec) {
  spec.entrypoint = {std::vector<std::string>{"python3", "train.py"}};
  AttemptPlaces places;
  places.socket = "/a/socket";
  places.ml = "/a/ml";
  places.log_directory = "/a";
  LentMachine machine;
  machine.ranks_host = "/usr/bin/hpsearch-ranks";
  machine.slots = 4;
  machine.cores = 16;
  const auto launch = plan_launch(spec, places, machine);
  EXPECT_TRUE(launch.has_value()) << launch.error().message;
  return launch ? *launch : Launch{};
}

TEST(LaunchKind, OnlyRank0GetsTheReportSocket) {
  EXPECT_EQ(plan(spec_of(LaunchKind::pytorch)).program.environment.at("HPSEARCH_SOCKET"), "/a/socket");
  EXPECT_FALSE(plan(second_of(LaunchKind::pytorch)).program.environment.contains("HPSEARCH_SOCKET"));
}

TEST(LaunchKind, ProcessPerSlotIsStartedByAnotherProgram) {
  EXPECT_EQ(
      plan(second_of(LaunchKind::pytorch, RankLevel::process)).program.argv,
      (std::vector<std::string>{"/usr/bin/hpsearch-ranks", "2", "2", "/a", "--", "python3", "train.py"}));
  EXPECT_EQ(plan(second_of(LaunchKind::pytorch)).program.argv,
            (std::vector<std::string>{"python3", "train.py"}));
}

TEST(LaunchKind, TensorflowsTasksThatShareAnAddressListenAtDifferentPorts) {
  LaunchSpec spec = second_of(LaunchKind::tensorflow);
  spec.rendezvous.addresses = {"10.0.0.1", "10.0.0.1", "10.0.0.2"};
  spec.rendezvous.port = 23'500;
  EXPECT_NE(plan(spec)
                .program.environment.at("TF_CONFIG")
                .find(R"({"chief":["10.0.0.1:23500"],"worker":["10.0.0.1:23501","10.0.0.2:23500"]})"),
            std::string::npos);
  EXPECT_EQ(port_to_listen_at(spec), 23'501U);
  spec.launch.kind = LaunchKind::pytorch;
  EXPECT_EQ(port_to_listen_at(spec), std::nullopt) << "rank 0 does";
  spec.rendezvous.rank = 0;
  EXPECT_EQ(port_to_listen_at(spec), 23'500U);
  spec.rendezvous.addresses.clear();
  EXPECT_EQ(port_to_listen_at(spec), std::nullopt);
}

TEST(LaunchKind, SharesTheAttemptsThreadsAmongItsProcesses) {
  EXPECT_EQ(plan(second_of(LaunchKind::pytorch)).program.environment.at("OMP_NUM_THREADS"), "8");
  EXPECT_EQ(
      plan(second_of(LaunchKind::pytorch, RankLevel::process)).program.environment.at("OMP_NUM_THREADS"),
      "4");
  LaunchSpec asked = second_of(LaunchKind::pytorch, RankLevel::process);
  asked.environment_variables["OMP_NUM_THREADS"] = "3";
  EXPECT_EQ(plan(asked).program.environment.at("OMP_NUM_THREADS"), "3");
}

TEST(LaunchKind, ModelArtsProgramsGetAllHosts) {
  const Launch launch = plan(second_of(LaunchKind::pytorch));
  EXPECT_EQ(launch.program.environment.at("VC_WORKER_HOSTS"), "10.0.0.1,10.0.0.2,fd00::3");
  EXPECT_EQ(launch.program.environment.at("VC_WORKER_NUM"), "3");
  EXPECT_EQ(launch.program.environment.at("MA_NUM_HOSTS"), "3");
  EXPECT_EQ(launch.program.environment.at("VC_TASK_INDEX"), "1");
  EXPECT_EQ(launch.program.environment.at("VK_TASK_INDEX"), "1");
  EXPECT_EQ(launch.program.environment.at("MA_CURRENT_IP"), "10.0.0.2");
}

}  // namespace
}  // namespace hpsearch::workers

#include "hpsearch/workers/core/adapters/determined/determined_launch.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/workers/core/launch/launch_environment.hpp"

namespace hpsearch::workers {
namespace {

using engine::Value;
using jobs::LaunchSpec;

LaunchSpec spec_with(Value config) {
  LaunchSpec spec;
  spec.entrypoint.command = "model_def:Trial {this stays}";
  spec.hparams = Value::Map{{"lr", 0.5}};
  spec.harness_config = std::move(config);
  return spec;
}

AttemptPlaces places() {
  return {.work_directory = "/a/work",
          .checkpoint_directory = "/a/checkpoint",
          .output_directory = "/a/output",
          .params_file = "/a/params.json",
          .socket = "/a/socket",
          .harness_directory = "/a/harness"};
}

LentMachine machine() {
  LentMachine lent;
  lent.determined_host = "/usr/bin/hpsearch-determined";
  return lent;
}

std::string problem_of(const LaunchSpec& spec, const LentMachine& lent) {
  const engine::Result<Launch> launch = plan_launch(spec, places(), lent);
  return launch ? "" : launch.error().message;
}

TEST(DeterminedLaunch, RunsTheHostAndNotTheEntrypoint) {
  const engine::Result<Launch> launch =
      plan_launch(spec_with(Value::Map{{"entrypoint", "model_def:Trial"}}), places(), machine());
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->program.argv, std::vector<std::string>{"/usr/bin/hpsearch-determined"});
  EXPECT_EQ(launch->program.environment.at("HPSEARCH_HARNESS_DIR"), "/a/harness");
  const engine::Result<Value> config =
      proto::parse_json(launch->program.environment.at("DET_EXPERIMENT_CONFIG"));
  ASSERT_TRUE(config);
  EXPECT_EQ(*config->at_path("entrypoint"), Value("model_def:Trial"));
  EXPECT_EQ(*config->at_path("scheduling_unit"), Value(100)) << "defaults are filled in";
}

TEST(DeterminedLaunch, NamesMissingFields) {
  EXPECT_EQ(problem_of(spec_with(Value::Map{}), {}),
            "entrypoint: it needs the Determined harness, but this worker has no program hpsearch-determined "
            "beside it");
  const Value large = Value::Map{{"data", std::string(200'000, 'x')}};
  EXPECT_NE(problem_of(spec_with(large), machine()).find("in one variable of at most 131008"),
            std::string::npos);
}

TEST(DeterminedLaunch, NamesAddressesOfItsOtherNodes) {
  LaunchSpec spec = spec_with(Value::Map{});
  engine::Result<Launch> launch = plan_launch(spec, places(), machine());
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_FALSE(launch->program.environment.contains(harness_nodes_variable));
  spec.rendezvous = {1, {"10.0.0.1", "10.0.0.2"}, 23'500};
  launch = plan_launch(spec, places(), machine());
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->program.environment.at(harness_nodes_variable),
            R"({"addresses":["10.0.0.1","10.0.0.2"],"ports":[23500,19500,15500],"rank":1})");
}

TEST(DeterminedLaunch, LeavesOtherProgramsAlone) {
  LaunchSpec spec;
  spec.entrypoint.command = std::vector<std::string>{"train"};
  const engine::Result<Launch> launch = plan_launch(spec, places(), machine());
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->program.argv, std::vector<std::string>{"train"});
  EXPECT_FALSE(launch->program.environment.contains("HPSEARCH_HARNESS_DIR"));
  EXPECT_FALSE(launch->program.environment.contains("DET_EXPERIMENT_CONFIG"));
}

}  // namespace
}  // namespace hpsearch::workers

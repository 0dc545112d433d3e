#include "daemon/sessions/lost_workers.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "daemon/store/memory_store.hpp"
#include "hpsearch/searchers/registry.hpp"
#include "simulation/cluster/faults/faults.hpp"
#include "simulation/cluster/faults/simulated_store.hpp"
#include "simulation/cluster/nodes/process.hpp"
#include "simulation/cluster/nodes/virtual_time.hpp"

// Workers that do not come back are forgotten by the daemon.

namespace hpsearch::simulation {
namespace {

using engine::Duration;
using engine::Instant;

class LostWorkers : public testing::Test {
 protected:
  LostWorkers() {
    faults.calm_all();
    process.begin(Instant{} + Duration::seconds(1'000'000));
    runtime =
        std::make_unique<daemon::Runtime>(process, store, searchers::registry(),
                                          engine::Patience{Duration::seconds(45), Duration::seconds(300)},
                                          on_a_slow_disk(process, faults, draw));
    EXPECT_TRUE(runtime->recover());
    runtime->start([](const engine::Order&) {}, [](const engine::Error&) {});
    lost_workers = std::make_unique<daemon::LostWorkers>(
        *runtime, daemon::LostWorkers::Settings{
                      .forget_after = Duration::seconds(7LL * 86'400),
                      .forgotten = [this](const std::string& name) { forgotten.push_back(name); }});
  }

  engine::WorkerId join(const std::string& uid, const std::string& name) {
    const engine::WorkerId worker = *runtime->perform(engine::JoinWorker{uid, name, 1, 1, "cpu", {}})->joined;
    runtime->connected(worker);
    return worker;
  }
  void pass(Duration span) {
    const Instant end = time.now() + span;
    bool there = false;
    time.at(end, [&there] { there = true; });
    while (!there) {
      ASSERT_TRUE(time.step());
    }
  }
  bool knows(engine::WorkerId worker) const { return runtime->engine().workers().contains(worker); }

  VirtualTime time;
  Faults faults{1};
  engine::Draw draw{1, engine::TrialNumber(0), "disk"};
  Process process{time};
  daemon::MemoryStore store{std::make_shared<daemon::MemoryDisk>()};
  std::unique_ptr<daemon::Runtime> runtime;
  std::unique_ptr<daemon::LostWorkers> lost_workers;
  std::vector<std::string> forgotten;
};

TEST_F(LostWorkers, AreForgottenAfterTheirTime) {
  const engine::WorkerId a = join("uid-a", "a");
  static_cast<void>(runtime->perform(engine::LoseWorker{a, "asked to stop"}));
  pass(Duration::seconds(6 * 86'400));
  EXPECT_TRUE(knows(a));
  EXPECT_TRUE(forgotten.empty());
  pass(Duration::seconds(86'500));
  EXPECT_FALSE(knows(a));
  EXPECT_EQ(forgotten, std::vector<std::string>{"a"});
  EXPECT_EQ(runtime->engine().forgotten_workers().at(a).name, "a");
}

TEST_F(LostWorkers, AreForgottenForAnotherOneOfTheirName) {
  const engine::WorkerId old = join("uid-old", "node-1");
  static_cast<void>(runtime->perform(engine::LoseWorker{old, "asked to stop"}));
  pass(Duration::seconds(60));
  EXPECT_TRUE(knows(old));
  const engine::WorkerId other = join("uid-new", "node-1");
  pass(Duration::seconds(11));
  EXPECT_FALSE(knows(old));
  EXPECT_TRUE(knows(other));
  EXPECT_EQ(forgotten, std::vector<std::string>{"node-1"});
}

TEST_F(LostWorkers, AreKeptWhileTheyMayBringSomethingBack) {
  const engine::WorkerId old = join("uid-old", "node-1");
  engine::CreateExperiment search;
  search.config = engine::Value::Map{
      {"entrypoint", "true"},
      {"hyperparameters",
       engine::Value::Map{{"x", engine::Value::Map{{"type", "double"}, {"minval", 0.0}, {"maxval", 1.0}}}}},
      {"searcher", engine::Value::Map{{"name", "random"},
                                      {"metric", "score"},
                                      {"max_trials", std::int64_t{1}},
                                      {"max_length", engine::Value::Map{{"epochs", std::int64_t{9}}}}}}};
  search.fallback_name = "test";
  const engine::ExperimentId id = *runtime->perform(search)->created;
  const auto* trial = runtime->engine().find(id, engine::TrialNumber(0));
  ASSERT_TRUE(trial->live);
  static_cast<void>(runtime->perform(engine::ConfirmStart{old, trial->live->key}));
  runtime->disconnected(old);
  pass(Duration::seconds(1'000));
  ASSERT_FALSE(runtime->engine().workers().at(old).present);
  const engine::WorkerId other = join("uid-new", "node-1");
  runtime->disconnected(other);  // It gets nothing yet.
  pass(Duration::seconds(60));
  EXPECT_TRUE(knows(old));
  runtime->connected(other);
  pass(Duration::seconds(1));
  trial = runtime->engine().find(id, engine::TrialNumber(0));
  ASSERT_TRUE(trial->live && trial->live->worker == other);
  static_cast<void>(runtime->perform(engine::ConfirmStart{other, trial->live->key}));
  pass(Duration::seconds(11));
  EXPECT_FALSE(knows(old));
}

}  // namespace
}  // namespace hpsearch::simulation

#include "daemon/sessions/relative_paths.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "contract/event_store_contract.hpp"
#include "daemon/store/memory_store.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Event;
using engine::Lsn;

/// A store behind RelativePathStore, as every store is used.
struct RelativePathFixture {
  std::shared_ptr<MemoryDisk> disk = std::make_shared<MemoryDisk>();
  struct Fronted final : EventStore {
    explicit Fronted(std::shared_ptr<MemoryDisk> on)
        : behind(std::move(on)), front(behind, "/home/ann/state") {}
    [[nodiscard]] std::uint64_t cluster() const noexcept override { return front.cluster(); }
    [[nodiscard]] std::uint64_t daemon_epoch() const noexcept override { return front.daemon_epoch(); }
    engine::Status recover(const Visit& visit) override { return front.recover(visit); }
    engine::Status append(std::span<const Event> group) override { return front.append(group); }
    [[nodiscard]] Lsn last_lsn() const noexcept override { return front.last_lsn(); }
    [[nodiscard]] engine::Result<std::vector<Event>> read(Lsn after, std::size_t limit) override {
      return front.read(after, limit);
    }
    [[nodiscard]] engine::Result<std::vector<Event>> history(engine::ExperimentId experiment,
                                                             engine::TrialNumber trial) override {
      return front.history(experiment, trial);
    }
    [[nodiscard]] engine::Result<std::vector<MetricPoint>> metrics(engine::ExperimentId experiment,
                                                                   engine::TrialNumber trial,
                                                                   MetricPosition after,
                                                                   std::size_t enough_numbers) override {
      return front.metrics(experiment, trial, after, enough_numbers);
    }
    [[nodiscard]] engine::Result<CurvePage> curves(engine::ExperimentId experiment, const std::string& metric,
                                                   CurvePosition after, engine::TrialNumber last,
                                                   std::size_t most_reports) override {
      return front.curves(experiment, metric, after, last, most_reports);
    }
    MemoryStore behind;
    RelativePathStore front;
  };
  [[nodiscard]] std::unique_ptr<EventStore> open() const { return std::make_unique<Fronted>(disk); }
};

INSTANTIATE_TYPED_TEST_SUITE_P(RelativePaths, EventStoreContract, RelativePathFixture);

engine::EventBody taken(const std::string& path) {
  return engine::ReportTaken{{}, 1, engine::CheckpointReport{engine::Units{3}, path, 1, 10}};
}

std::string path_in(const Event& event) {
  return std::get<engine::CheckpointReport>(std::get<engine::ReportTaken>(event.body).report).path;
}

TEST(RelativePaths, FollowAMovedStore) {
  const std::vector<std::pair<std::string, std::string>> paths{
      {"/old/state/checkpoints/1/0/1-3", "/new/state/checkpoints/1/0/1-3"},
      {"/old/state-too/checkpoints/1/0/1-3", "/old/state-too/checkpoints/1/0/1-3"},
      {"/shared/7/1/0/1-3", "/shared/7/1/0/1-3"},
      {"s3://bucket/7/1/0/1-3", "s3://bucket/7/1/0/1-3"}};
  const auto disk = std::make_shared<MemoryDisk>();
  {
    MemoryStore behind(disk);
    RelativePathStore before(behind, "/old/state");
    ASSERT_TRUE(before.recover([](Event&&) { return engine::Status(engine::Done{}); }));
    std::vector<Event> events;
    for (const auto& [old, moved] : paths) {
      events.push_back({Lsn{events.size() + 1}, engine::Instant::from_micros(1), taken(old)});
    }
    events.push_back({Lsn{events.size() + 1}, engine::Instant::from_micros(1),
                      engine::CheckpointsDeleted{engine::ExperimentId{1}, {paths[0].first, paths[2].first}}});
    ASSERT_TRUE(before.append(events));
    EXPECT_EQ(path_in(before.read(Lsn{0}, 1)->front()), paths[0].first);
    EXPECT_EQ(path_in(behind.read(Lsn{0}, 1)->front()), "checkpoints/1/0/1-3");
  }
  MemoryStore behind(disk);
  RelativePathStore after(behind, "/new/state");
  std::vector<Event> found;
  ASSERT_TRUE(after.recover([&found](Event&& event) {
    found.push_back(std::move(event));
    return engine::Status(engine::Done{});
  }));
  ASSERT_EQ(found.size(), paths.size() + 1);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    EXPECT_EQ(path_in(found[i]), paths[i].second);
  }
  EXPECT_EQ(std::get<engine::CheckpointsDeleted>(found.back().body).paths,
            (std::vector{paths[0].second, paths[2].second}));
}

}  // namespace
}  // namespace hpsearch::daemon

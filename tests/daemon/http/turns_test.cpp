#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "daemon/daemon_fixture.hpp"
#include "daemon/metrics/daemon_metrics.hpp"
#include "hpsearch/io/net/loop_lag.hpp"

// Limits the work of one turn of the daemon's loop, with everything around it as large as a test can make it.
// Units of work are counted, not time: how often the loop's thread allocates memory, as encoding, copying,
// deciding and storing do. docs/benchmarks.md, "turns of the loop", has the milliseconds.

namespace {

thread_local std::uint64_t allocations = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void* counted(std::size_t size) {
  ++allocations;
  void* memory = std::malloc(size == 0 ? 1 : size);  // NOLINT(cppcoreguidelines-no-malloc)
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

std::uint64_t count_of_allocations() {
  return allocations;
}

}  // namespace

void* operator new(std::size_t size) {
  return counted(size);
}
void* operator new[](std::size_t size) {
  return counted(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
}
void operator delete[](void* memory) noexcept {
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
}

namespace hpsearch::daemon {
namespace {

// On the two cores of docs/benchmarks.md the loop allocates twice in a microsecond: this is a turn of some 10
// ms.
constexpr std::uint64_t most_work = 20'000;
constexpr std::size_t most_answer = std::size_t{256} << 10U;

constexpr std::uint64_t experiments = 1'200;
constexpr std::uint64_t workers = 400;
constexpr std::int64_t trials = 1'000;
constexpr std::uint64_t checkpoints = 1'000;

/// A daemon with many objects of each kind.
class Turns : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    daemon_ = std::make_unique<DaemonFixture>();
    net::lag_of(daemon_->loop).set_meter(&count_of_allocations);
    // Its trials are all created: each has a slot of a worker with that many.
    worker_ = std::make_unique<ScriptedWorker>(*daemon_, "large");
    worker_->slots = static_cast<std::uint64_t>(trials);
    worker_->join();
    daemon_->submit(with_concurrency(small_search(trials)));
    daemon_->pump_until([] { return trials_of_the_first() == static_cast<std::size_t>(trials); });
    for (std::uint64_t i = 0; i < experiments; ++i) {
      engine::CreateExperiment command;
      command.config = small_search(2);
      static_cast<void>(daemon_->runtime->perform(std::move(command)));
    }
    for (std::uint64_t i = 0; i < workers; ++i) {
      engine::JoinWorker join;
      join.uid = "uid-" + std::to_string(i);
      join.name = "node" + std::to_string(i) + ".cluster.example.org";
      join.incarnation = 1;
      join.slots = 8;
      join.slot_kind = "gpu";
      for (std::uint64_t slot = 0; slot < 8; ++slot) {
        join.devices.push_back(
            {"GPU-" + std::to_string(i) + "-" + std::to_string(slot), "NVIDIA H200", slot, 1});
      }
      static_cast<void>(daemon_->runtime->perform(std::move(join)));
    }
    settle();
    key_ = worker_->wait_for<proto::Lease>().spec.key;
    worker_->send(proto::Started{key_});
    send_checkpoints();
  }
  static void TearDownTestSuite() {
    worker_.reset();
    daemon_.reset();
  }

  static engine::Value with_concurrency(engine::Value config) {
    (*(*config.as_map())["searcher"].as_map())["max_concurrent_trials"] = trials;
    return config;
  }
  static std::size_t trials_of_the_first() {
    const engine::ExperimentRecord* record = daemon_->runtime->engine().find(engine::ExperimentId(1));
    return record == nullptr ? 0 : record->trials.size();
  }
  static void settle() {
    daemon_->pump_until([] { return daemon_->runtime->idle(); });
  }

  /// In messages that one step takes whole.
  static void send_checkpoints() {
    while (last_seq_ < checkpoints) {
      proto::Reports reports{key_, last_seq_ + 1, {}};
      for (std::uint64_t i = 0; i < 10; ++i) {
        ++last_seq_;
        reports.reports.emplace_back(
            engine::CheckpointReport{engine::Units(1), "/checkpoints/" + std::to_string(last_seq_), 3, 5});
      }
      worker_->send(reports);
      worker_->wait_for<proto::Ack>(acks_ += 1);
    }
  }

  /// The most work of one turn while `task` and the work that it started are running.
  template <class Task>
  static std::uint64_t work_of(const Task& task) {
    settle();
    static_cast<void>(net::lag_of(daemon_->loop).take_longest_turn());
    task();
    settle();
    return net::lag_of(daemon_->loop).take_longest_turn();
  }

  static void expect_little(const std::string& what, std::uint64_t work) {
    EXPECT_LE(work, most_work) << what;
    EXPECT_GT(work, 0U) << what;
    std::cout << what << ": " << work << " allocations in a turn at most\n";
  }

  static DaemonFixture::Answer ask(const std::string& method, const std::string& target,
                                   const std::string& body = "") {
    DaemonFixture::Answer answer;
    expect_little(method + " " + target, work_of([&] { answer = daemon_->ask(method, target, body); }));
    EXPECT_EQ(answer.status / 100, 2U) << method << " " << target << ": " << answer.text.substr(0, 300);
    EXPECT_LE(answer.text.size(), most_answer) << method << " " << target;
    return answer;
  }

  static std::unique_ptr<DaemonFixture> daemon_;
  static std::unique_ptr<ScriptedWorker> worker_;
  static engine::AttemptKey key_;
  static std::uint64_t last_seq_;
  static std::size_t acks_;
};

std::unique_ptr<DaemonFixture> Turns::daemon_;
std::unique_ptr<ScriptedWorker> Turns::worker_;
engine::AttemptKey Turns::key_;
std::uint64_t Turns::last_seq_ = 0;
std::size_t Turns::acks_ = 0;

TEST_F(Turns, AnswersAreMadeInPages) {
  const std::string its_trial = "/api/v1/experiments/1/trials/" + std::to_string(key_.trial.number());
  for (const std::string& target :
       {std::string("/api/v1/status"),
        std::string("/api/v1/experiments/1"),
        std::string("/api/v1/experiments/1/config"),
        std::string("/api/v1/experiments/1/best"),
        std::string("/api/v1/experiments/1/model"),
        std::string("/api/v1/events?limit=1000"),
        std::string("/api/v1/experiments/1/columns"),
        std::string("/api/v1/experiments/1/"
                    "columns?fields=trial,failure,reason&where=state=running%20or%20metric%3C1"),
        std::string("/api/v1/experiments/1/curves"),
        std::string("/api/v1/experiments/1/curves?mode=density"),
        std::string("/api/v1/experiments/1/history"),
        std::string("/api/v1/experiments/1/importance"),
        std::string("/api/v1/experiments/1/metrics"),
        std::string("/api/v1/experiments/1/rungs"),
        std::string("/api/v1/experiments/1/timeline"),
        std::string("/api/v1/experiments/1/trials?sort=-lr&where=state=running"),
        std::string("/api/v1/experiments?sort=-name"),
        std::string("/metrics"),
        its_trial,
        its_trial + "/explain",
        its_trial + "/metrics"}) {
    if (target != "/metrics") {
      ask("GET", target);
    }
  }
}

TEST_F(Turns, PagesTogetherHaveEachEntryOnce) {
  const std::string its_trial = "/api/v1/experiments/1/trials/" + std::to_string(key_.trial.number());
  const std::vector<std::tuple<std::string, std::string, std::uint64_t>> lists = {
      {"/api/v1/experiments", "experiments", experiments + 1},
      {"/api/v1/workers", "workers", workers + 1},
      {"/api/v1/experiments/1/trials", "trials", static_cast<std::uint64_t>(trials)},
      {"/api/v1/experiments/1/checkpoints", "checkpoints", checkpoints},
      {its_trial + "/checkpoints", "checkpoints", checkpoints}};
  for (const auto& [target, name, total] : lists) {
    std::set<std::string> seen;
    std::string after;
    std::size_t pages = 0;
    do {
      const auto page = ask("GET", target + (after.empty() ? "" : "?after=" + after));
      const engine::Value* list = page.body.at_path(name);
      ASSERT_NE(list, nullptr) << page.text.substr(0, 200);
      for (const engine::Value& entry : *list->as_list()) {
        const char* number = name == "trials" ? "trial" : name == "checkpoints" ? "path" : "id";
        EXPECT_TRUE(seen.insert(engine::compact_json(*entry.at_path(number))).second) << target;
      }
      const engine::Value* next = page.body.at_path("next");
      ASSERT_NE(next, nullptr);
      after = next->as_text() != nullptr ? *next->as_text()
              : next->is_null()          ? ""
                                         : engine::compact_json(*next);
    } while (!after.empty() && ++pages < 1'000);
    EXPECT_EQ(seen.size(), total) << target;
  }
}

TEST_F(Turns, WorkerMessagesAreHandledInPieces) {
  proto::Reports saved{key_, last_seq_ + 1, {}};
  for (std::uint64_t i = 0; i < 2'000; ++i) {
    saved.reports.emplace_back(
        engine::CheckpointReport{engine::Units(1), "/checkpoints/more" + std::to_string(i), 3, 5});
  }
  expect_little("a message with 2,000 checkpoints", work_of([&] {
                  worker_->send(saved);
                  worker_->wait_for<proto::Nack>();
                }));
  const auto nack = worker_->wait_for<proto::Nack>();
  EXPECT_GT(nack.expect, saved.first_seq);
  EXPECT_LT(nack.expect, saved.first_seq + saved.reports.size());
  last_seq_ = nack.expect - 1;
  acks_ = worker_->all<proto::Ack>().size();

  proto::Reports metrics{key_, last_seq_ + 1, {}};
  for (std::uint64_t i = 0; i < 400; ++i) {
    engine::Metrics values;
    for (std::uint64_t m = 0; m < 40; ++m) {
      values.emplace_back("m" + std::to_string(m), 0.5);
    }
    metrics.reports.emplace_back(engine::MetricsReport{engine::Units(1), std::move(values)});
  }
  expect_little("a message with 400 reports of 40 metrics", work_of([&] {
                  worker_->send(metrics);
                  worker_->wait_for<proto::Ack>(acks_ + 1);
                }));
}

TEST_F(Turns, ChangesOfTheWholeExperimentAreMadeInSteps) {
  const std::string first = "/api/v1/experiments/1";
  ask("PATCH", first, R"({"resources": {"max_slots": 100000}})");
  ask("POST", first + "/pause");
  ask("POST", first + "/resume");
}

/// Allocations of one scrape of a daemon whose search has this many trials, all with a slot.
std::uint64_t allocations_of_a_scrape(std::int64_t trials_of_it) {
  DaemonFixture daemon;
  engine::JoinWorker join;
  join.uid = "large";
  join.incarnation = 1;
  join.slots = static_cast<std::uint64_t>(trials_of_it);
  join.slot_kind = "cpu";
  const auto joined = daemon.runtime->perform(std::move(join));
  daemon.runtime->connected(*joined->joined);
  engine::Value config = small_search(trials_of_it);
  (*(*config.as_map())["searcher"].as_map())["max_concurrent_trials"] = trials_of_it;
  daemon.submit(config);
  const auto& record = daemon.runtime->engine().experiments().begin()->second;
  daemon.pump_until([&] { return record.trials.size() == static_cast<std::size_t>(trials_of_it); });
  daemon.pump_until([&] { return daemon.runtime->idle(); });
  const std::uint64_t before = count_of_allocations();
  proto::PrometheusText text =
      daemon_metrics({.version = "0", .runtime = daemon.runtime.get(), .sessions = daemon.sessions.get()});
  return count_of_allocations() - before;
}

/// Allocations for a worker that joins a pool of its own beside this many searches.
std::uint64_t allocations_of_a_join(std::uint64_t searches) {
  DaemonFixture daemon;
  for (std::uint64_t i = 0; i < searches; ++i) {
    engine::CreateExperiment command;
    command.config = small_search(2);
    static_cast<void>(daemon.runtime->perform(std::move(command)));
  }
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < 3; ++i) {
    daemon.pump_until([&] { return daemon.runtime->idle(); });
    engine::JoinWorker join;
    join.uid = "uid-" + std::to_string(i);
    join.incarnation = 1;
    join.slots = 1;
    join.slot_kind = "cpu";
    join.pool = "other";
    const std::uint64_t before = count_of_allocations();
    static_cast<void>(daemon.runtime->perform(std::move(join)));
    last = count_of_allocations() - before;
  }
  return last;
}

// Each of 10,000 workers that joined beside 200 searches made the daemon examine all of them.
TEST(Join, CostsTheSameBesideManySearchesAsBesideFew) {
  const std::uint64_t few = allocations_of_a_join(2);
  EXPECT_LE(allocations_of_a_join(400), few + 10);
  EXPECT_GT(few, 0U);
}

TEST(Scrape, CostsTheSameForManyTrialsAsForFew) {
  const std::uint64_t few = allocations_of_a_scrape(10);
  EXPECT_LE(allocations_of_a_scrape(1'000), few + few / 10);
  EXPECT_GT(few, 0U);
}

}  // namespace
}  // namespace hpsearch::daemon

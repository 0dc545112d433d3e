#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "daemon/daemon_fixture.hpp"
#include "messages.hpp"

namespace hpsearch::daemon {
namespace {

using testing::HasSubstr;

/// Experiments that have ended, failed trials, and workers that will become idle.
class LifeRoutes : public testing::Test {
 protected:
  /// The experiment ends before any of its trials ran.
  void submit_and_kill(std::uint64_t number) {
    daemon_.submit(small_search(2));
    ASSERT_EQ(change("POST", number, "/kill").status, 200U);
  }
  DaemonFixture::Answer change(const std::string& method, std::uint64_t number,
                               const std::string& rest = "") {
    return daemon_.ask(method, "/api/v1/experiments/" + std::to_string(number) + rest);
  }
  /// The numbers that the list has, with that query.
  std::vector<std::int64_t> listed(const std::string& query = "") {
    const auto answer = daemon_.ask("GET", "/api/v1/experiments" + query);
    EXPECT_EQ(answer.status, 200U) << answer.text;
    std::vector<std::int64_t> numbers;
    for (const engine::Value& one : *answer.body.at_path("experiments")->as_list()) {
      numbers.push_back(*one.at_path("id")->as_integer());
    }
    return numbers;
  }
  using Numbers = std::vector<std::int64_t>;

  DaemonFixture daemon_;
};

TEST_F(LifeRoutes, ListsLeaveOutArchivedExperimentsByDefault) {
  submit_and_kill(1);
  daemon_.submit(small_search(2));
  EXPECT_EQ(change("POST", 2, "/archive").status, 409U) << "it has not ended";
  const auto archived = change("POST", 1, "/archive");
  EXPECT_EQ(archived.status, 200U) << archived.text;
  EXPECT_EQ(archived.at("archived"), "true");
  EXPECT_EQ(listed(), Numbers{2});
  EXPECT_EQ(listed("?limit=1"), Numbers{2});
  EXPECT_EQ(listed("?archived=true"), Numbers{1});
  EXPECT_EQ(listed("?archived=all"), (Numbers{1, 2}));
  EXPECT_EQ(listed("?sort=name"), Numbers{2});
  EXPECT_EQ(listed("?sort=id&archived=all"), (Numbers{1, 2}));
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/experiments?archived=some").status, 400U);
  EXPECT_EQ(change("GET", 1).at("archived"), "true") << "by its number it is there";
  daemon_.restart();
  EXPECT_EQ(listed(), Numbers{2});
  EXPECT_EQ(change("POST", 1, "/unarchive").at("archived"), "false");
  EXPECT_EQ(listed(), (Numbers{1, 2}));
}

TEST_F(LifeRoutes, DeletedExperimentIsNotFound) {
  submit_and_kill(1);
  daemon_.submit(small_search(2));
  EXPECT_EQ(change("DELETE", 2).status, 409U) << "it has not ended";
  EXPECT_EQ(change("DELETE", 7).status, 404U);
  const auto deleted = change("DELETE", 1);
  EXPECT_EQ(deleted.status, 202U) << deleted.text;
  EXPECT_EQ(deleted.at("experiment"), "1");
  EXPECT_EQ(listed("?archived=all"), Numbers{2});
  for (const char* path : {"", "/config", "/trials", "/columns", "/trials/0", "/rungs", "/files", "/best"}) {
    const auto answer = change("GET", 1, path);
    EXPECT_EQ(answer.status, 404U) << path << answer.text;
    EXPECT_MESSAGE(answer.at("error.message")) << path;
  }
  EXPECT_EQ(change("POST", 1, "/archive").status, 404U);
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/stream?topics=experiment:1").status, 404U);
  daemon_.restart();
  EXPECT_EQ(change("GET", 1).status, 404U);
  EXPECT_EQ(daemon_.submit(small_search(2)), engine::ExperimentId(3)) << "numbers are not used again";
}

TEST_F(LifeRoutes, UsageCountsADeletedExperiment) {
  daemon_.submit(small_search(2));
  ScriptedWorker worker(daemon_);
  worker.join();
  static_cast<void>(worker.wait_for<proto::Lease>());
  ASSERT_EQ(change("POST", 1, "/kill").status, 200U);
  worker.disconnect();
  const engine::WorkerId id(1);
  static_cast<void>(daemon_.runtime->perform(engine::LoseWorker{id, "test"}));
  const auto before = daemon_.ask("GET", "/api/v1/usage?by=experiment");
  ASSERT_EQ(before.count("usage"), 1U) << before.text;
  ASSERT_EQ(change("DELETE", 1).status, 202U);
  const auto after = daemon_.ask("GET", "/api/v1/usage?by=experiment");
  EXPECT_EQ(after.at("usage"), before.at("usage"));
}

TEST_F(LifeRoutes, KeptLogsOfADeletedExperimentAreRemoved) {
  const auto directory = daemon_.folder.path() / "kept" / "1" / "0" / "1";
  std::filesystem::create_directories(directory);
  std::ofstream(directory / "1.problem") << "the disk was full";
  daemon_.restart();
  daemon_.pump_until(
      [&] { return !daemon_.kept->log_problem_of(engine::ExperimentId(1), engine::TrialNumber(0)).empty(); });
  daemon_.kept->remove(engine::ExperimentId(1));
  daemon_.pump_until(
      [&] { return daemon_.kept->log_problem_of(engine::ExperimentId(1), engine::TrialNumber(0)).empty(); });
  EXPECT_FALSE(std::filesystem::exists(daemon_.folder.path() / "kept" / "1"));
  EXPECT_TRUE(std::filesystem::exists(daemon_.folder.path() / "kept"));
}

TEST_F(LifeRoutes, OnlyAFailedTrialIsRetried) {
  daemon_.submit(small_search(2));
  EXPECT_EQ(change("POST", 1, "/trials/0/retry").status, 404U);
  ScriptedWorker worker(daemon_);
  worker.join();
  static_cast<void>(worker.wait_for<proto::Lease>());
  const auto refused = change("POST", 1, "/trials/0/retry");
  EXPECT_EQ(refused.status, 409U);
  EXPECT_MESSAGE(refused.at("error.message"));
}

TEST_F(LifeRoutes, SlotsShowTheirState) {
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/slots").at("slots"), "[]");
  daemon_.submit(small_search(1));
  ScriptedWorker worker(daemon_);
  worker.slots = 2;
  worker.join();
  static_cast<void>(worker.wait_for<proto::Lease>());
  const auto slots = daemon_.ask("GET", "/api/v1/slots");
  ASSERT_EQ(slots.count("slots"), 2U) << slots.text;
  const auto& list = *slots.body.at_path("slots")->as_list();
  EXPECT_EQ(engine::compact_json(*list[0].at_path("state")), "\"busy\"");
  EXPECT_EQ(engine::compact_json(*list[0].at_path("experiment")), "1");
  EXPECT_EQ(engine::compact_json(*list[0].at_path("trial")), "0");
  EXPECT_EQ(engine::compact_json(*list[1].at_path("state")), "\"free\"");
  EXPECT_EQ(engine::compact_json(*list[1].at_path("trial")), "null");
  const auto first = daemon_.ask("GET", "/api/v1/slots?limit=1");
  EXPECT_EQ(first.at("next"), "\"1.0\"");
  const auto second = daemon_.ask("GET", "/api/v1/slots?limit=1&after=1.0");
  EXPECT_EQ(second.at("next"), "null");
  EXPECT_EQ(second.count("slots"), 1U);
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/slots?after=some").status, 400U);

  const std::string uid = daemon_.runtime->engine().workers().at(engine::WorkerId(1)).uid;
  daemon_.runtime->set_taken(uid, {{engine::SlotIndex(1), "search other has it"}});
  EXPECT_THAT(daemon_.ask("GET", "/api/v1/slots").text, HasSubstr(R"("state":"taken")"));
  EXPECT_THAT(daemon_.ask("GET", "/api/v1/slots").text, HasSubstr(R"("why":"search other has it")"));
  daemon_.runtime->set_taken(uid, {});

  const auto drained = daemon_.ask("POST", "/api/v1/workers/1/drain");
  EXPECT_EQ(drained.at("draining"), "true") << drained.text;
  const auto then = daemon_.ask("GET", "/api/v1/slots");
  EXPECT_THAT(then.text, HasSubstr("\"state\":\"draining\""));
  EXPECT_THAT(then.text, HasSubstr("\"state\":\"busy\"")) << "what runs, runs on";
  EXPECT_THAT(daemon_.ask_text("/metrics"),
              HasSubstr("hpsearch_workers{state=\"draining\",pool=\"default\"} 1"));
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/workers/1/release").at("draining"), "false");
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/workers/9/drain").status, 404U);
}

}  // namespace
}  // namespace hpsearch::daemon

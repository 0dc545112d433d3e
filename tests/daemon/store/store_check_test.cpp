#include "daemon/store/tools/store_check.hpp"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "daemon/store/sqlite_file.hpp"
#include "daemon/store/sqlite_store.hpp"
#include "daemon/store/tools/closed_store.hpp"
#include "engine/test_cluster.hpp"
#include "hpsearch/searchers/registry.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

using engine::TrialNumber;

/// The log of a search with one trial.
class CheckedStore : public testing::Test {
 protected:
  CheckedStore() {
    cluster_.join("w", 1);
    id_ = cluster_.create(engine::random_config(1, 0));
    cluster_.run_all([](TrialNumber) { return 0.5; });
  }

  void store() const {
    auto opened = SqliteStore::open(path_);
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_TRUE((*opened)->recover([](const engine::Event&) -> engine::Status { return engine::Done{}; }));
    ASSERT_TRUE((*opened)->append(cluster_.log));
  }

  void without_metrics() const {
    SqliteFile file;
    ASSERT_TRUE(file.open(path_));
    ASSERT_TRUE(file.run("DELETE FROM metric", "cannot change"));
  }

  [[nodiscard]] StoreCheck check() const {
    const auto closed = ClosedStore::open(path_);
    EXPECT_TRUE(closed) << closed.error().message;
    return check_store(**closed, searchers::registry());
  }

  engine::TestCluster cluster_;
  engine::ExperimentId id_;
  Scratch scratch_;
  std::string path_ = scratch_.path("events.db");
};

TEST_F(CheckedStore, IsSoundWithAThinnedCurve) {
  std::vector<std::uint64_t> removed;
  for (const engine::Event& event : cluster_.log) {
    if (metrics_in(event) != nullptr) {
      const auto& report = std::get<engine::ReportTaken>(event.body);
      removed = {report.key.attempt.number(), report.seq, report.seq};
    }
  }
  ASSERT_FALSE(removed.empty());
  cluster_.step(engine::ThinCurve{id_, TrialNumber(0), 0, removed});
  store();
  EXPECT_EQ(check().damages, std::vector<std::string>{});
}

TEST_F(CheckedStore, IsSoundWithoutTheRowsOfADeletedExperiment) {
  cluster_.step(engine::DeleteExperiment{id_});
  cluster_.step(engine::RemoveRows{id_, 32});
  store();
  EXPECT_EQ(check().damages, std::vector<std::string>{});
}

TEST_F(CheckedStore, MissingMetricsAreDamage) {
  store();
  EXPECT_TRUE(check().sound());
  without_metrics();
  const StoreCheck damaged = check();
  ASSERT_EQ(damaged.damages.size(), 1U);
  EXPECT_NE(damaged.damages[0].find("is a report whose metrics are missing in the table metric"),
            std::string::npos)
      << damaged.damages[0];
}

}  // namespace
}  // namespace hpsearch::daemon

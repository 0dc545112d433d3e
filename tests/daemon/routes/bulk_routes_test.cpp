#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "daemon/daemon_fixture.hpp"
#include "messages.hpp"

// The reads behind plots and tables, through the daemon's own routes.

namespace hpsearch::daemon {
namespace {

using engine::Value;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// A halving search of `max_trials` trials on rungs of 1, 4 and 16 epochs.
Value halving_search(std::int64_t max_trials) {
  const auto parsed = proto::parse_json(R"({
    "name": "ladder",
    "entrypoint": ["python3", "train.py"],
    "hyperparameters": {"lr": {"type": "log", "minval": -4, "maxval": -1, "base": 10},
                        "model": {"depth": {"type": "int", "minval": 1, "maxval": 9},
                                  "kind": {"type": "categorical", "vals": ["plain", "wide", "ü"]}},
                        "fixed": 3},
    "reproducibility": {"experiment_seed": 7},
    "searcher": {"name": "async_halving", "metric": "loss", "smaller_is_better": true, "num_rungs": 3, "divisor": 4,
                 "max_concurrent_trials": 1, "max_trials": )" +
                                        std::to_string(max_trials) + R"(, "max_length": {"epochs": 16}}
  })");
  EXPECT_TRUE(parsed) << parsed.error().message;
  return *parsed;
}

class BulkRoutes : public testing::Test {
 protected:
  /// Runs the search to its end: trial n measures losses[n % size] at every length, later ones a little less.
  void run(std::int64_t trials, const std::vector<double>& losses) {
    daemon_.submit(halving_search(trials));
    worker_.emplace(daemon_);
    worker_->join();
    std::size_t leases = 0;
    const auto ended = [this] {
      return engine::is_ended(daemon_.runtime->engine().find(engine::ExperimentId(1))->state);
    };
    while (!ended()) {
      daemon_.pump_until([&] { return worker_->all<proto::Lease>().size() > leases || ended(); });
      const auto all = worker_->all<proto::Lease>();
      for (; leases < all.size(); ++leases) {
        train(all[leases].spec, losses);
      }
    }
    daemon_.pump_until([this] { return daemon_.runtime->idle(); });
  }

  void train(const jobs::LaunchSpec& spec, const std::vector<double>& losses) {
    const auto trial = [this, &spec]() -> const engine::TrialRecord& {
      return daemon_.runtime->engine().find(spec.key.experiment)->trials[spec.key.trial.number()];
    };
    worker_->send(proto::Started{spec.key});
    double loss = losses[spec.key.trial.number() % losses.size()];
    std::uint64_t seq = 0;
    for (engine::Units length = spec.length;; length = trial().length, loss -= 0.001) {
      worker_->send(proto::Reports{spec.key, ++seq, {metrics_report(engine::count(length), loss)}});
      daemon_.pump_until(
          [&] { return !trial().live || trial().live->is_ending() || trial().length > length; });
      if (!trial().live || trial().live->is_ending()) {
        break;
      }
    }
    worker_->send(proto::Reports{spec.key, ++seq, {exit_report(engine::ExitReport::Cause::exited, 0)}});
    daemon_.pump_until([&] { return !trial().live || trial().live->key.attempt != spec.key.attempt; });
  }

  DaemonFixture::Answer get(const std::string& path) {
    return daemon_.ask("GET", "/api/v1/experiments/1" + path);
  }

  DaemonFixture daemon_;
  std::optional<ScriptedWorker> worker_;
};

const Value& column(const Value& answer, const std::string& name) {
  static const Value none;
  const Value::List& fields = *answer.at_path("fields")->as_list();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (*fields[i].at_path("name") == Value(name)) {
      return (*answer.at_path("columns")->as_list())[i];
    }
  }
  return none;
}

TEST_F(BulkRoutes, HistoryHasOnlyImprovements) {
  run(8, {0.9, 0.8, 0.85, 0.5, not_a_number, 0.6});
  const auto answer = get("/history");
  ASSERT_EQ(answer.status, 200U) << answer.text;
  double before = 1e9;
  for (const Value& point : *answer.body.at_path("points")->as_list()) {
    const double metric = point.at_path("metric")->number_or(1e9);
    EXPECT_LT(metric, before);
    before = metric;
  }
  const auto best = get("/best");
  EXPECT_EQ(before, best.body.at_path("best_metric")->number_or(-1));
  EXPECT_EQ(answer.body.at_path("end.trials")->number_or(0), 8);
  EXPECT_FALSE(answer.body.at_path("started_at")->is_null());
}

TEST_F(BulkRoutes, RungsOfAPastMomentAreReplayed) {
  run(8, {0.9, 0.8, 0.85, 0.5, not_a_number, 0.6});
  const auto now = get("/rungs");
  ASSERT_EQ(now.status, 200U) << now.text;
  const Value::List& rungs = *now.body.at_path("brackets")->as_list()->front().at_path("rungs")->as_list();
  ASSERT_EQ(rungs.size(), 3U);
  EXPECT_EQ(rungs[0].at_path("size")->number_or(0), 8);
  EXPECT_EQ(rungs[0].at_path("keep")->number_or(0), 2);
  EXPECT_TRUE(rungs[0].at_path("results")->as_list()->back().at_path("metric")->is_null())
      << "NaN ranks last";
  const auto last = static_cast<std::uint64_t>(now.body.at_path("last_lsn")->number_or(0));
  const auto first = static_cast<std::uint64_t>(now.body.at_path("first_lsn")->number_or(0));
  const auto begin = get("/rungs?at=" + std::to_string(first));
  ASSERT_EQ(begin.status, 200U) << begin.text;
  EXPECT_TRUE(begin.body.at_path("brackets")
                  ->as_list()
                  ->front()
                  .at_path("rungs")
                  ->as_list()
                  ->front()
                  .at_path("results")
                  ->as_list()
                  ->empty());
  double size = 0;
  for (std::uint64_t lsn = first; lsn < last; lsn += 7) {
    const auto then = get("/rungs?at=" + std::to_string(lsn));
    ASSERT_EQ(then.status, 200U) << then.text;
    const Value& rung =
        then.body.at_path("brackets")->as_list()->front().at_path("rungs")->as_list()->front();
    EXPECT_GE(rung.at_path("size")->number_or(-1), size);
    size = rung.at_path("size")->number_or(-1);
    EXPECT_EQ(then.body.at_path("lsn")->number_or(0), static_cast<double>(lsn));
  }
  const auto again = get("/rungs?at=" + std::to_string(last - 1));
  EXPECT_EQ(again.body.at_path("brackets")->as_list()->size(), 1U);
  EXPECT_EQ(get("/rungs?at=" + std::to_string(last + 1)).status, 400U);
  EXPECT_EQ(get("/rungs?at=0").status, 400U);
}

TEST_F(BulkRoutes, TimelineHasEveryAttempt) {
  run(8, {0.9, 0.8, 0.85, 0.5});
  const auto answer = get("/timeline");
  ASSERT_EQ(answer.status, 200U) << answer.text;
  const Value::List& bars = *answer.body.at_path("bars")->as_list();
  std::uint64_t attempts = 0;
  std::set<std::string> outcomes;
  for (const auto& trial : daemon_.runtime->engine().find(engine::ExperimentId(1))->trials) {
    attempts += trial.attempts;
  }
  for (const Value& bar : bars) {
    outcomes.insert(*bar.at_path("outcome")->as_text());
    EXPECT_LE(bar.at_path("from")->number_or(1e18), bar.at_path("to")->number_or(0));
  }
  EXPECT_EQ(bars.size(), attempts);
  EXPECT_TRUE(outcomes.contains("paused"));
  EXPECT_EQ(answer.body.at_path("slots")->as_list()->size(), 1U);
  EXPECT_EQ(get("/timeline?bins=3").body.at_path("bins.edges")->as_list()->size(), 4U);
  EXPECT_EQ(get("/timeline?from=x").status, 400U);
  EXPECT_EQ(get("/timeline?bins=100000").status, 400U);
}

TEST_F(BulkRoutes, MetricsAreNamedAfterARestart) {
  run(4, {0.9, 0.8, 0.85, 0.5});
  const std::string before = get("/metrics").text;
  EXPECT_NE(before.find("\"loss\""), std::string::npos) << before;
  EXPECT_NE(before.find("\"trials\":4"), std::string::npos) << before;
  worker_.reset();
  daemon_.restart();
  EXPECT_EQ(get("/metrics").text, before);
}

// The end of a finished search moved while others ran.
TEST_F(BulkRoutes, TheTimeOfRungsEndsWithTheSearch) {
  run(8, {0.9, 0.8, 0.85, 0.5, not_a_number, 0.6});
  const auto before = get("/rungs");
  daemon_.submit(halving_search(3));
  daemon_.pump_until([this] { return daemon_.runtime->idle(); });
  const auto after = get("/rungs");
  EXPECT_EQ(after.at("last_lsn"), before.at("last_lsn"));
  EXPECT_EQ(after.at("time"), before.at("time"));
  const auto beyond = get("/rungs?at=" + std::to_string(daemon_.runtime->engine().last_lsn().number()));
  EXPECT_EQ(beyond.status, 200U) << "an address that a colleague has kept";
}

// NaN was shown although nothing was reported, and beside it a best metric of another length.
TEST_F(BulkRoutes, ResultsAreOfOneLengthAndNanDiffersFromNone) {
  run(8, {0.9, 0.8, 0.85, 0.5, not_a_number, 0.6});
  const auto rungs = get("/rungs");
  const Value& shortest =
      rungs.body.at_path("brackets")->as_list()->front().at_path("rungs")->as_list()->front();
  EXPECT_EQ(*shortest.at_path("results")->as_list()->back().at_path("nonfinite"), Value("nan"));
  const auto answer = get("/columns?length=1");
  EXPECT_EQ(answer.body.at_path("length")->number_or(0), 1);
  EXPECT_EQ(answer.count("lengths"), 3U);
  const Value::List& results = *column(answer.body, "result").as_list();
  for (const Value& one : *shortest.at_path("results")->as_list()) {
    EXPECT_EQ(results[static_cast<std::size_t>(one.at_path("trial")->number_or(0))], *one.at_path("metric"));
  }
  EXPECT_TRUE(results[4].is_null());
  EXPECT_EQ((*column(answer.body, "nonfinite").as_list())[4].number_or(-1), 0);
  EXPECT_TRUE((*column(answer.body, "nonfinite").as_list())[3].is_null());
  const Value best = (*column(answer.body, "metric").as_list())[3];
  EXPECT_LT(best.number_or(1), results[3].number_or(0)) << "its best is of a longer rung";
  EXPECT_GT((*column(answer.body, "at").as_list())[3].number_or(0), 1);
  EXPECT_EQ(get("/columns").body.at_path("length")->number_or(0), 1) << "the one with the most results";
}

TEST_F(BulkRoutes, ColumnsHaveARowForEachTrial) {
  run(8, {0.9, 0.8, 0.85, 0.5, not_a_number, 0.6});
  const auto answer = get("/columns");
  ASSERT_EQ(answer.status, 200U) << answer.text;
  EXPECT_EQ(answer.body.at_path("rows")->number_or(0), 8);
  for (const char* name : {"trial", "state", "metric", "reached", "rung", "hparams.lr", "hparams.model.depth",
                           "hparams.model.kind"}) {
    ASSERT_NE(column(answer.body, name).as_list(), nullptr) << name;
    EXPECT_EQ(column(answer.body, name).as_list()->size(), 8U) << name;
  }
  EXPECT_EQ(column(answer.body, "hparams.fixed").as_list(), nullptr) << "a constant says nothing";
  EXPECT_TRUE((*column(answer.body, "metric").as_list())[4].is_null()) << "NaN is missing";
  const auto trial = get("/trials/3");
  EXPECT_EQ((*column(answer.body, "hparams.lr").as_list())[3], *trial.body.at_path("hparams.lr"));
  EXPECT_EQ((*column(answer.body, "hparams.model.depth").as_list())[3],
            *trial.body.at_path("hparams.model.depth"));
}

TEST_F(BulkRoutes, ColumnsAreChosenByCondition) {
  run(8, {0.9, 0.8, 0.85, 0.5, not_a_number, 0.6});
  const auto answer =
      get("/columns?fields=trial,hparams.lr,failure,reason,started_at,worker&where=metric%3C0.7");
  ASSERT_EQ(answer.status, 200U) << answer.text;
  const Value::List& trials = *column(answer.body, "trial").as_list();
  EXPECT_EQ(answer.body.at_path("total")->number_or(0), 8);
  EXPECT_EQ(trials.size(), 2U) << answer.text;
  const auto trial = get("/trials/" + engine::compact_json(trials[0]));
  EXPECT_EQ((*column(answer.body, "hparams.lr").as_list())[0].number_or(0),
            trial.body.at_path("hparams.lr")->number_or(-1));
  for (const char* wrong : {"/columns?fields=lrr", "/columns?where=lr", "/columns?where=nothing=1",
                            "/columns?sample=x", "/columns?colour=1"}) {
    EXPECT_EQ(get(wrong).status, 400U) << wrong;
  }
}

TEST_F(BulkRoutes, SampleHasTheBestTrialsAndIsReproducible) {
  run(40, {0.9, 0.8, 0.85, 0.5, 0.7, 0.6, 0.95, 0.4, 0.99});
  const auto answer = get("/columns?fields=trial&sample=12");
  EXPECT_EQ(answer.body.at_path("rows")->number_or(0), 12);
  EXPECT_EQ(answer.text, get("/columns?fields=trial&sample=12").text);
  const auto best = get("/best");
  bool has_best = false;
  for (const Value& trial : *column(answer.body, "trial").as_list()) {
    has_best = has_best || trial == *best.body.at_path("trial");
  }
  EXPECT_TRUE(has_best);
}

TEST_F(BulkRoutes, CurvesHaveEveryValueAndEvent) {
  run(8, {0.9, 0.8, 0.85, 0.5, not_a_number, 0.6});
  const auto answer = get("/curves");
  ASSERT_EQ(answer.status, 200U) << answer.text;
  const Value::List& trials = *answer.body.at_path("trials")->as_list();
  ASSERT_EQ(trials.size(), 8U);
  std::set<std::string> happened;
  for (const Value& trial : trials) {
    const std::string number = engine::compact_json(*trial.at_path("trial"));
    const auto reported = get("/trials/" + number + "/metrics");
    const std::size_t nonfinite = trial.at_path("nonfinite")->as_list()->size();
    EXPECT_EQ(trial.at_path("last")->as_list()->size() + nonfinite, reported.count("metrics")) << number;
    EXPECT_EQ(nonfinite, number == "4" ? 1U : 0U);
    for (const Value& event : *trial.at_path("events")->as_list()) {
      happened.insert(*event.at_path("what")->as_text());
    }
  }
  EXPECT_EQ(happened, (std::set<std::string>{"paused", "promoted", "stopped"}));
  EXPECT_EQ(answer.count("rungs"), 3U);
  EXPECT_EQ(get("/curves?trials=1,3").count("trials"), 2U);
  for (const char* wrong : {"/curves?trials=99", "/curves?trials=x", "/curves?points=0", "/curves?mode=both",
                            "/curves?mode=density&range=2,1", "/curves?mode=density&bins=10000"}) {
    EXPECT_EQ(get(wrong).status, 400U) << wrong;
  }
  EXPECT_EQ(get("/curves?metric=unheard_of").count("trials"), 8U) << "curves without values";
}

TEST_F(BulkRoutes, DensityCountsAllValues) {
  run(8, {0.9, 0.8, 0.85, 0.5, not_a_number, 0.6});
  const auto answer = get("/curves?mode=density&bins=16&range=0.7,0.87");
  ASSERT_EQ(answer.status, 200U) << answer.text;
  double counted = answer.body.at_path("below")->number_or(0) + answer.body.at_path("above")->number_or(0) +
                   answer.body.at_path("nonfinite")->number_or(0);
  for (const Value& step : *answer.body.at_path("counts")->as_list()) {
    for (const Value& count : *step.as_list()) {
      counted += count.number_or(0);
    }
  }
  std::size_t reported = 0;
  for (int trial = 0; trial < 8; ++trial) {
    reported += get("/trials/" + std::to_string(trial) + "/metrics").count("metrics");
  }
  EXPECT_EQ(counted, static_cast<double>(reported));
  EXPECT_EQ(answer.body.at_path("trials")->number_or(0), 8);
}

TEST_F(BulkRoutes, ImportanceNeedsEnoughResults) {
  run(40, {0.9, 0.8, 0.85, 0.5, 0.7, 0.6, 0.95, 0.4, 0.99});
  const auto shares = get("/importance");
  ASSERT_EQ(shares.status, 200U) << shares.text;
  EXPECT_EQ(shares.at("reason"), "\"\"") << shares.text;
  EXPECT_EQ(shares.at("rung"), "1") << "the longest with 10 results";
  EXPECT_EQ(shares.at("others"), "30") << "they were stopped before";
  double sum = 0;
  for (const Value& one : *shares.body.at_path("hyperparameters")->as_list()) {
    sum += one.at_path("share")->number_or(0);
  }
  EXPECT_NEAR(sum, 1, 1e-9);
  const auto too_few = get("/importance?rung=2");
  EXPECT_EQ(too_few.count("hyperparameters"), 0U);
  EXPECT_MESSAGE(too_few.at("reason"));
  EXPECT_EQ(get("/importance?metric=accuracy").status, 400U);
}

TEST_F(BulkRoutes, ExportHasALineForEachTrial) {
  run(8, {0.9, 0.8, 0.85, 0.5, not_a_number, 0.6});
  const auto lines = [this](const std::string& format) {
    const std::string text = daemon_.ask_text("/api/v1/experiments/1/export?format=" + format);
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines("csv"), 9);
  EXPECT_EQ(lines("jsonl"), 8);
  EXPECT_EQ(lines("optuna"), 9);
  EXPECT_EQ(get("/export?format=xml").status, 400U);
  const std::string csv = daemon_.ask_text("/api/v1/experiments/1/export");
  EXPECT_EQ(csv.substr(0, 15), "trial,id,state,");
  EXPECT_NE(csv.find(",hparams.fixed,hparams.lr,hparams.model.depth,hparams.model.kind\n"),
            std::string::npos);
}

TEST_F(BulkRoutes, SortedPagesHaveEveryTrialOnce) {
  run(40, {0.9, 0.8, 0.85, 0.5, not_a_number, 0.6, 0.95, 0.4, 0.99});
  for (const char* sort :
       {"metric", "-metric", "state,-hparams.lr", "hparams.model.kind,metric", "-created_at", "failure"}) {
    std::vector<Value> seen;
    std::string after;
    do {
      const auto page =
          get("/trials?limit=7&sort=" + std::string(sort) + (after.empty() ? "" : "&after=" + after));
      ASSERT_EQ(page.status, 200U) << page.text;
      for (const Value& trial : *page.body.at_path("trials")->as_list()) {
        seen.push_back(trial);
      }
      const Value& next = *page.body.at_path("next");
      after = next.as_text() == nullptr ? "" : *next.as_text();
    } while (!after.empty());
    std::set<double> numbers;
    for (const Value& trial : seen) {
      numbers.insert(trial.at_path("trial")->number_or(-1));
    }
    EXPECT_EQ(seen.size(), 40U) << sort;
    EXPECT_EQ(numbers.size(), 40U) << sort;
    if (std::string(sort) == "metric") {
      for (std::size_t i = 1; i < seen.size(); ++i) {
        const Value& before = *seen[i - 1].at_path("best_metric");
        const Value& here = *seen[i].at_path("best_metric");
        EXPECT_TRUE(here.is_null() || before.number_or(2) <= here.number_or(2)) << i;
      }
    }
  }
}

TEST_F(BulkRoutes, TrialsAreChosenByStateAndCondition) {
  run(20, {0.9, 0.8, 0.85, 0.5, 0.7});
  const auto completed = get("/trials?state=COMPLETED");
  EXPECT_GT(completed.count("trials"), 0U);
  EXPECT_EQ(completed.at("matched"), std::to_string(completed.count("trials")));
  EXPECT_EQ(completed.at("total"), "20");
  for (const Value& trial : *completed.body.at_path("trials")->as_list()) {
    EXPECT_EQ(*trial.at_path("state"), Value("COMPLETED"));
  }
  EXPECT_EQ(get("/trials?where=trial%3C5%20and%20metric%3E0").count("trials"), 5U);
  for (const char* wrong : {"/trials?state=DONE", "/trials?sort=lrr", "/trials?sort=", "/trials?where=lr",
                            "/trials?sort=metric&after=zz", "/trials?sort=metric&after=00"}) {
    EXPECT_EQ(get(wrong).status, std::string(wrong) == "/trials?sort=" ? 200U : 400U) << wrong;
  }
}

TEST_F(BulkRoutes, ExperimentsAreChosenAndSorted) {
  for (const char* name : {"beta", "Alpha", "gamma", "delta"}) {
    Value config = halving_search(1);
    (*config.as_map())["name"] = name;
    (*config.as_map())["labels"] = Value::List{name[0] == 'g' ? "vision" : "text"};
    (*config.as_map())["workspace"] = "w";
    (*config.as_map())["project"] = "p";
    daemon_.submit(config);
  }
  const auto names = [this](const std::string& query) {
    std::string all;
    const auto answer = daemon_.ask("GET", "/api/v1/experiments" + query);
    EXPECT_EQ(answer.status, 200U) << answer.text;
    for (const Value& experiment : *answer.body.at_path("experiments")->as_list()) {
      all += *experiment.at_path("name")->as_text() + " ";
    }
    return all;
  };
  EXPECT_EQ(names(""), "beta Alpha gamma delta ");
  EXPECT_EQ(names("?sort=name"), "Alpha beta delta gamma ");
  EXPECT_EQ(names("?sort=-name"), "gamma delta beta Alpha ");
  EXPECT_EQ(names("?q=ALPH"), "Alpha ");
  EXPECT_EQ(names("?label=vision"), "gamma ");
  EXPECT_EQ(names("?state=ACTIVE,PAUSED&project=p&limit=2"), "beta Alpha ");
  EXPECT_EQ(names("?state=ACTIVE&after=2"), "gamma delta ");
  EXPECT_EQ(names("?state=COMPLETED"), "");
  std::string all;
  std::string after;
  do {
    const auto page = daemon_.ask(
        "GET", "/api/v1/experiments?limit=3&sort=project,name" + (after.empty() ? "" : "&after=" + after));
    for (const Value& experiment : *page.body.at_path("experiments")->as_list()) {
      all += *experiment.at_path("name")->as_text() + " ";
    }
    after = page.body.at_path("next")->as_text() == nullptr ? "" : *page.body.at_path("next")->as_text();
  } while (!after.empty());
  EXPECT_EQ(all, "Alpha beta delta gamma ");
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/experiments?sort=nam").status, 400U);
}

TEST_F(BulkRoutes, UnknownExperimentIsNotFound) {
  for (const char* path :
       {"/columns", "/curves", "/export", "/history", "/importance", "/metrics", "/rungs", "/timeline"}) {
    EXPECT_EQ(daemon_.ask("GET", std::string("/api/v1/experiments/9") + path).status, 404U) << path;
  }
}

}  // namespace
}  // namespace hpsearch::daemon

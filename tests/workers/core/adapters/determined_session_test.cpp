#include "hpsearch/workers/core/adapters/determined/determined_session.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/workers/core/adapters/determined/determined_config.hpp"

namespace hpsearch::workers {
namespace {

using engine::Duration;
using engine::Instant;
using engine::Units;
using engine::Value;

const Instant begin = Instant::from_micros(1'000'000);

DeterminedTrial small_trial() {
  DeterminedTrial trial;
  trial.experiment = 3;
  trial.trial = 7;
  trial.run = 2;
  trial.allocation = "trial-7.2";
  trial.token = "secret";
  trial.config = determined_config(
      Value::Map{{"searcher", Value::Map{{"metric", "loss"}, {"smaller_is_better", true}}}});
  trial.hparams = Value::Map{{"lr", 0.1}};
  trial.length = Units{4};
  return trial;
}

/// A harness and a worker around one session; its effects become text.
class Conversation {
 public:
  explicit Conversation(DeterminedTrial trial = small_trial()) : session_(std::move(trial)) {}

  /// Returns the number of the request.
  std::uint64_t ask(const std::string& method, const std::string& path, const std::string& body = "",
                    const std::string& timeout = "") {
    DeterminedRequest request;
    request.id = DeterminedRequestId(++requests_);
    request.method = method;
    request.path = "/api/v1/" + path;
    request.timeout_seconds = timeout;
    request.authorization = authorization;
    request.body = body;
    DeterminedSession::Effects effects;
    session_.asked(request, now, effects);
    note(effects);
    return requests_;
  }
  void answer(const std::string& line) {
    DeterminedSession::Effects effects;
    session_.answered(line, now, effects);
    note(effects);
  }
  void taken(const engine::Status& status) {
    DeterminedSession::Effects effects;
    session_.taken(status, effects);
    note(effects);
  }
  void pass(Duration duration) {
    now = now + duration;
    DeterminedSession::Effects effects;
    session_.check_timers(now, effects);
    note(effects);
  }
  void end() {
    DeterminedSession::Effects effects;
    session_.ended(effects);
    note(effects);
  }
  /// The effects since the last call, one line each.
  std::string happened() { return std::exchange(log_, ""); }
  DeterminedSession& session() { return session_; }

  Instant now = begin;
  std::string authorization = "Bearer secret";

 private:
  void note(const DeterminedSession::Effects& effects) {
    for (const DeterminedEffect& effect : effects) {
      if (const auto* reply = std::get_if<DeterminedReply>(&effect)) {
        log_ += "reply " + std::to_string(reply->request.number()) + ": " + std::to_string(reply->status);
        log_ += reply->status == 200 ? " " + reply->body + "\n" : "\n";
      } else if (const auto* say = std::get_if<SendToWorker>(&effect)) {
        log_ += "say " + say->line + "\n";
      } else if (const auto* take = std::get_if<CheckpointToTake>(&effect)) {
        log_ += "take " + take->uuid + "\n";
      } else if (std::holds_alternative<ModelToPack>(effect)) {
        log_ += "pack\n";
      } else if (const auto* unknown = std::get_if<UnknownRequest>(&effect)) {
        log_ += "unknown " + unknown->what + "\n";
      }
    }
  }

  DeterminedSession session_;
  std::uint64_t requests_ = 0;
  std::string log_;
};

std::string metrics_body(const std::string& group, int steps, const std::string& metrics) {
  return R"({"group":")" + group + R"(","metrics":{"metrics":{"avgMetrics":)" + metrics +
         R"(,"batchMetrics":[{"loss":1}]},"stepsCompleted":)" + std::to_string(steps) + "}}";
}

/// On the node without the chief, of two nodes with two slots each.
TEST(DeterminedMember, GetsAllAddressesAndReportsNothing) {
  DeterminedTrial trial = small_trial();
  trial.addresses = {"10.0.0.1", "10.0.0.2"};
  trial.rank = 1;
  trial.slots = 2;
  Conversation talk(trial);
  talk.ask("GET", "allocations/trial-7.2/resources/r/rendezvous");
  EXPECT_EQ(talk.happened(),
            "reply 1: 200 "
            "{\"rendezvousInfo\":{\"addresses\":[\"10.0.0.1\",\"10.0.0.2\"],\"rank\":1,\"slots\":[2,2]}}\n");
  talk.ask("POST", "trials/7/progress", "2");
  talk.ask("POST", "trials/7/metrics", metrics_body("training", 2, R"({"loss":1})"));
  EXPECT_EQ(talk.happened(), "reply 2: 200 {}\nreply 3: 200 {}\n");
  talk.ask("GET", "allocations/trial-7.2/signals/preemption", "", "60");
  talk.pass(Duration::seconds(59));
  EXPECT_EQ(talk.happened(), "") << "its worker is not asked";
  talk.pass(Duration::seconds(1));
  EXPECT_EQ(talk.happened(), "reply 4: 200 {\"preempt\":false}\n");
  talk.end();
  EXPECT_EQ(talk.happened(), "");
}

TEST(DeterminedSession, CompletesAnOperationWhenTheSearcherHasDecided) {
  Conversation talk;
  talk.ask("GET", "trials/7/searcher/operation");
  EXPECT_EQ(talk.happened(),
            "reply 1: 200 {\"completed\":false,\"op\":{\"validateAfter\":{\"length\":\"4\"}}}\n");

  talk.ask("POST", "trials/7/metrics", metrics_body("validation", 4, R"({"loss":0.5,"accuracy":0.9})"));
  EXPECT_EQ(talk.happened(), "reply 2: 200 {}\n") << "the validation at the length waits for its operation";

  talk.ask("POST", "trials/7/searcher/completed_operation", R"({"op":{"length":4},"searcherMetric":0.5})");
  EXPECT_EQ(talk.happened(),
            "say {\"metrics\":{\"accuracy\":0.9,\"loss\":0.5},\"step\":4,\"type\":\"report\"}\n")
      << "no reply before the decision";
  talk.answer(R"({"directive":"continue","length":12})");
  EXPECT_EQ(talk.happened(), "reply 3: 200 {}\n");

  talk.ask("GET", "trials/7/searcher/operation");
  EXPECT_EQ(talk.happened(),
            "reply 4: 200 {\"completed\":false,\"op\":{\"validateAfter\":{\"length\":\"12\"}}}\n");
  talk.ask("POST", "trials/7/searcher/completed_operation",
           R"({"op":{"length":"12"},"searcherMetric":0.25})");
  talk.answer(R"({"directive":"pause","length":12})");
  talk.happened();
  talk.ask("GET", "trials/7/searcher/operation");
  EXPECT_EQ(talk.happened(),
            "reply 6: 200 {\"completed\":true,\"op\":{\"validateAfter\":{\"length\":\"12\"}}}\n");
}

TEST(DeterminedSession, KeepsTrainingMetricsApart) {
  Conversation talk;
  talk.ask("POST", "trials/7/metrics",
           metrics_body("training", 2, R"({"loss":1.5,"image":[1,2],"bad":"NaN"})"));
  EXPECT_EQ(talk.happened(),
            "say "
            "{\"metrics\":{\"training\":{\"bad\":{\"class\":\"nan\"},\"loss\":1.5}},\"step\":2,\"type\":"
            "\"report\"}\n");
}

TEST(DeterminedSession, SendsOneLineAtATime) {
  Conversation talk;
  talk.ask("POST", "trials/7/metrics", metrics_body("training", 1, R"({"loss":3})"));
  talk.ask("POST", "trials/7/progress", "1");
  EXPECT_EQ(talk.happened(),
            "say {\"metrics\":{\"training\":{\"loss\":3.0}},\"step\":1,\"type\":\"report\"}\n");
  talk.answer(R"({"directive":"continue","length":4})");
  EXPECT_EQ(talk.happened(), "reply 1: 200 {}\nsay {\"step\":1.0,\"type\":\"progress\"}\n");
}

TEST(DeterminedSession, AsksOnceASecondAndPreemptsOnPause) {
  Conversation talk;
  talk.ask("GET", "allocations/trial-7.2/signals/preemption", "", "0");
  EXPECT_EQ(talk.happened(), "reply 1: 200 {\"preempt\":false}\n");
  talk.ask("GET", "allocations/trial-7.2/signals/preemption", "", "60");
  EXPECT_EQ(talk.happened(), "");
  EXPECT_EQ(talk.session().next_wake(), begin + Duration::seconds(1));
  talk.pass(Duration::seconds(1));
  EXPECT_EQ(talk.happened(), "say {\"type\":\"progress\"}\n");
  talk.pass(Duration::seconds(1));
  EXPECT_EQ(talk.happened(), "") << "one question is open";
  talk.answer(R"({"directive":"pause","length":4})");
  EXPECT_EQ(talk.happened(), "reply 2: 200 {\"preempt\":true}\n");
  talk.ask("POST", "allocations/trial-7.2/signals/ack_preemption");
  EXPECT_EQ(talk.session().exit_status(0), 0);
  EXPECT_EQ(talk.session().next_wake(), std::nullopt);
}

TEST(DeterminedSession, EndsALongPollAtItsTime) {
  Conversation talk;
  talk.ask("GET", "allocations/trial-7.2/signals/preemption", "", "3");
  talk.pass(Duration::seconds(3));
  EXPECT_EQ(talk.happened(), "reply 1: 200 {\"preempt\":false}\nsay {\"type\":\"progress\"}\n");
}

TEST(DeterminedSession, PreemptionFromOutsideAsksForAnotherRun) {
  Conversation talk;
  talk.ask("POST", "allocations/trial-7.2/signals/pending_preemption");
  EXPECT_EQ(talk.session().exit_status(0), 0) << "it did not leave for that";
  talk.ask("POST", "allocations/trial-7.2/signals/ack_preemption");
  EXPECT_EQ(talk.session().exit_status(0), 75);
  EXPECT_EQ(talk.session().exit_status(3), 3);
}

TEST(DeterminedSession, PublishesCheckpointsBeforeItReportsThem) {
  Conversation talk;
  const std::string body =
      R"({"uuid":"12-ab","resources":{"model":"5"},"metadata":{"steps_completed":3},"state":"X"})";
  talk.ask("POST", "checkpoints", body);
  EXPECT_EQ(talk.happened(), "take 12-ab\n");
  talk.taken(engine::Done{});
  EXPECT_EQ(talk.happened(), "say {\"step\":3,\"type\":\"checkpoint\"}\n");
  talk.answer(R"({"directive":"continue","length":4})");
  EXPECT_EQ(talk.happened(), "reply 1: 200 {}\n");
  talk.ask("GET", "checkpoints/12-ab");
  EXPECT_EQ(
      talk.happened(),
      "reply 2: 200 {\"checkpoint\":{\"allocationId\":\"trial-7.2\",\"metadata\":{\"steps_completed\":3},"
      "\"resources\":{\"model\":\"5\"},\"state\":\"STATE_COMPLETED\",\"training\":{},\"uuid\":\"12-ab\"}}\n");
  talk.ask("POST", "checkpoints", body);
  talk.happened();
  talk.taken(engine::Error{engine::Errc::unavailable, "the disk is full"});
  EXPECT_EQ(talk.happened(), "reply 3: 500\n");
}

TEST(DeterminedSession, RefusesCheckpointsThatLeadElsewhere) {
  Conversation talk;
  talk.ask("POST", "checkpoints", R"({"uuid":"../../etc","metadata":{"steps_completed":3}})");
  talk.ask("POST", "checkpoints", R"({"uuid":"","metadata":{"steps_completed":3}})");
  talk.ask("POST", "checkpoints", R"({"uuid":"a","metadata":{}})");
  EXPECT_EQ(talk.happened(), "reply 1: 400\nreply 2: 400\nreply 3: 400\n");
}

TEST(DeterminedSession, ReportsMetricsOnceTheLengthOfAnEpochIsKnown) {
  DeterminedTrial trial = small_trial();
  trial.unit = "epochs";
  Conversation talk(std::move(trial));
  talk.ask("POST", "trials/7/metrics", metrics_body("validation", 8, R"({"loss":3})"));
  talk.ask("POST", "trials/7/metrics", metrics_body("validation", 32, R"({"loss":2})"));
  EXPECT_EQ(talk.happened(), "reply 1: 200 {}\nreply 2: 200 {}\n");
  talk.ask("POST", "trials/7/searcher/completed_operation", R"({"op":{"length":4},"searcherMetric":2})");
  EXPECT_EQ(talk.happened(), "say {\"metrics\":{\"loss\":3.0},\"step\":1,\"type\":\"report\"}\n");
  talk.answer(R"({"directive":"continue","length":4})");
  EXPECT_EQ(talk.happened(), "say {\"metrics\":{\"loss\":2.0},\"step\":4,\"type\":\"report\"}\n");
}

TEST(DeterminedSession, ReportsInvalidHyperparametersOnce) {
  Conversation talk;
  talk.ask("POST", "trials/7/early_exit", R"({"reason":"EXITED_REASON_INVALID_HP"})");
  EXPECT_EQ(
      talk.happened(),
      "say {\"type\":\"invalid_hyperparameters\",\"why\":\"the program raised determined.InvalidHP; its log "
      "says why\"}\n");
  talk.answer(R"({"directive":"stop","length":4})");
  talk.ask("POST", "trials/7/early_exit", R"({"reason":"EXITED_REASON_INVALID_HP"})");
  EXPECT_EQ(talk.happened(), "reply 1: 200 {}\nreply 2: 400\n");
  talk.ask("POST", "trials/7/early_exit", R"({"reason":"BORED"})");
  EXPECT_EQ(talk.happened(), "reply 3: 400\n");
}

TEST(DeterminedSession, ReturnsItsBestValidationOrNone) {
  Conversation talk;
  const std::string path = "experiments/3/searcher/best_searcher_validation_metric";
  talk.ask("GET", path);
  EXPECT_EQ(talk.happened(), "reply 1: 404\n");
  for (const char* loss : {"0.5", "0.25", "0.75"}) {
    talk.ask("POST", "trials/7/metrics",
             metrics_body("validation", 1, std::string(R"({"loss":)") + loss + "}"));
  }
  talk.happened();
  talk.ask("GET", path);
  EXPECT_EQ(talk.happened(), "reply 5: 200 {\"metric\":0.25}\n");
}

TEST(DeterminedSession, RejectsRequestsWithoutTheTokenOfTheAttempt) {
  Conversation talk;
  for (const char* authorization : {"", "Bearer", "Bearer wrong", "secret"}) {
    talk.authorization = authorization;
    talk.ask("GET", "trials/7/searcher/operation");
  }
  EXPECT_EQ(talk.happened(), "reply 1: 401\nreply 2: 401\nreply 3: 401\nreply 4: 401\n");
  EXPECT_EQ(talk.session().next_wake(), std::nullopt);
}

TEST(DeterminedSession, DescribesTheTrial) {
  Conversation talk;
  talk.ask("GET", "trials/7");
  EXPECT_EQ(talk.happened(),
            "reply 1: 200 "
            "{\"trial\":{\"experimentId\":3,\"hparams\":{\"lr\":0.1},\"id\":7,\"restarts\":1,\"state\":"
            "\"STATE_RUNNING\",\"totalBatchesProcessed\":0}}\n");
  talk.ask("POST", "trials/7/metrics", metrics_body("validation", 3, R"({"loss":0.5})"));
  talk.happened();
  talk.ask("GET", "trials/7");
  EXPECT_NE(talk.happened().find(
                "\"latestValidation\":{\"metrics\":{\"avgMetrics\":{\"loss\":0.5}},\"numInputs\":0,"
                "\"totalBatches\":3}"),
            std::string::npos);
}

TEST(DeterminedSession, RejectsUnknownRequests) {
  Conversation talk;
  talk.ask("GET", "trials/8/searcher/operation");
  talk.ask("DELETE", "trials/7");
  talk.ask("GET", "allocations/trial-7.1/signals/preemption");
  EXPECT_EQ(talk.happened(),
            "unknown GET /api/v1/trials/8/searcher/operation\nreply 1: 404\n"
            "unknown DELETE /api/v1/trials/7\nreply 2: 404\n"
            "unknown GET /api/v1/allocations/trial-7.1/signals/preemption\nreply 3: 404\n");
}

TEST(DeterminedSession, InvalidRequestsAreRefused) {
  Conversation talk;
  const std::vector<std::string> bodies{"",
                                        "{",
                                        "[]",
                                        "null",
                                        "7",
                                        R"({"op":{"length":-4},"searcherMetric":1})",
                                        R"({"op":{"length":4},"searcherMetric":null})",
                                        R"({"op":{"length":5},"searcherMetric":1})"};
  for (const std::string& body : bodies) {
    talk.ask("POST", "trials/7/searcher/completed_operation", body);
  }
  for (const char* path : {"trials/7/metrics", "trials/7/progress", "trials/7/early_exit", "checkpoints"}) {
    talk.ask("POST", path, "{");
  }
  std::string expected;
  for (std::size_t i = 1; i <= bodies.size() + 4; ++i) {
    expected += "reply " + std::to_string(i) + ": 400\n";
  }
  EXPECT_EQ(talk.happened(), expected);
}

TEST(DeterminedSession, ForwardsErrorsOfTheWorker) {
  Conversation talk;
  talk.ask("POST", "trials/7/metrics", metrics_body("training", 1, R"({"loss":3})"));
  talk.happened();
  talk.answer(R"({"error":"there are more than 1000 metrics in one report"})");
  EXPECT_EQ(talk.happened(), "reply 1: 400\n");
}

TEST(DeterminedSession, ReportsAValidationWithoutCompletedOperation) {
  Conversation talk;
  talk.ask("POST", "trials/7/metrics", metrics_body("validation", 4, R"({"loss":0.5})"));
  talk.happened();
  talk.end();
  EXPECT_EQ(talk.happened(), "say {\"metrics\":{\"loss\":0.5},\"step\":4,\"type\":\"report\"}\n");
}

TEST(DeterminedSteps, CountInTheExperimentsUnit) {
  const Value config = determined_config(Value::Map{{"records_per_epoch", 256}});
  const Value hparams = Value::Map{{"global_batch_size", 32}};
  EXPECT_EQ(DeterminedSteps("batches", config, hparams).at(9), Units{9});
  EXPECT_EQ(DeterminedSteps("records", config, hparams).at(9), Units{288});
  EXPECT_EQ(DeterminedSteps("epochs", config, hparams).at(15), Units{1});
  EXPECT_EQ(DeterminedSteps("epochs", config, hparams).at(16), Units{2});
  EXPECT_EQ(DeterminedSteps("rounds", config, hparams).at(9), Units{9});
  DeterminedSteps learning("epochs", determined_config(Value::Map{}), Value::Map{});
  EXPECT_FALSE(learning.known());
  learning.learn(21, 7);
  EXPECT_EQ(learning.at(3), Units{1});
  EXPECT_EQ(learning.at(5), Units{1});
}

TEST(DeterminedConfig, HasEveryFieldThatTheHarnessIndexes) {
  const Value config = determined_config(Value::Map{
      {"optimizations", Value::Map{{"aggregation_frequency", 4}}},
      {"records_per_epoch", nullptr},
      {"min_validation_period", Value::Map{{"epochs", 0}}},
      {"min_checkpoint_period", Value::Map{{"epochs", 2}}},
      {"checkpoint_storage", Value::Map{{"type", "s3"}, {"bucket", "b"}, {"save_trial_best", 3}}}});
  EXPECT_EQ(*config.at_path("optimizations.aggregation_frequency"), Value(4));
  EXPECT_EQ(*config.at_path("optimizations.average_aggregated_gradients"), Value(true));
  EXPECT_EQ(*config.at_path("records_per_epoch"), Value(0));
  EXPECT_EQ(engine::compact_json(*config.at_path("min_validation_period")), R"({"batches":0})");
  EXPECT_EQ(engine::compact_json(*config.at_path("min_checkpoint_period")), R"({"epochs":2})");
  EXPECT_EQ(engine::compact_json(*config.at_path("checkpoint_storage")),
            R"({"host_path":"/determined_shared_fs","save_experiment_best":0,"save_trial_best":3,)"
            R"("save_trial_latest":1,"storage_path":null,"type":"shared_fs"})");
}

}  // namespace
}  // namespace hpsearch::workers

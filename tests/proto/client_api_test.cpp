#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/learnt.hpp"
#include "hpsearch/engine/scheduler/explain.hpp"
#include "hpsearch/proto/api/daemon.hpp"
#include "hpsearch/proto/api/preview.hpp"
#include "hpsearch/proto/api/trials.hpp"
#include "hpsearch/proto/api/workers.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/proto/sentences/reason.hpp"

namespace hpsearch::test {
namespace {

using namespace hpsearch::engine;  // NOLINT(google-build-using-namespace)

/// A searcher whose progress is 0.25.
class Quarter final : public Searcher {
 public:
  [[nodiscard]] Next next() const override { return NothingNow{}; }
  [[nodiscard]] Verdict verdict(TrialNumber /*trial*/) const override { return {}; }
  void on_event(const SearchEvent& /*event*/) override {}
  [[nodiscard]] std::span<const TrialNumber> closable() const override { return {}; }
  [[nodiscard]] Reason standing(TrialNumber /*trial*/) const override { return {}; }
  [[nodiscard]] std::optional<Learnt> learnt() const override { return learnt_; }
  [[nodiscard]] double progress() const noexcept override { return 0.25; }

  std::optional<Learnt> learnt_;
};

TrialRecord trial(std::uint64_t id, TrialState state, std::uint64_t length, std::uint64_t reached) {
  TrialRecord record;
  record.id = TrialId{id};
  record.state = state;
  record.length = Units{length};
  record.reached = Units{reached};
  record.trained = Units{reached};
  record.created_at = Instant::from_micros(2'000'000);
  return record;
}

/// Four trials of a search with rungs at 1, 4 and 16: one completed, one waits, one runs, one failed on its
/// way to 16.
ExperimentRecord experiment() {
  ExperimentRecord record;
  record.id = ExperimentId{3};
  record.config.name = "digits";
  record.config.unit = "epochs";
  record.config.searcher.name = "adaptive_asha";
  record.config.searcher.metric = "val_acc";
  record.config.searcher.smaller_is_better = false;
  record.config.searcher.max_length = Units{16};
  record.context_directory = "/home/ann/digits";
  record.searcher = std::make_unique<Quarter>();
  record.created_at = Instant::from_micros(1'000'000);
  record.first_lease_at = Instant::from_micros(3'000'000);

  record.trials.push_back(trial(10, TrialState::completed, 16, 17));
  record.trials.push_back(trial(11, TrialState::paused, 1, 1));
  record.trials.push_back(trial(12, TrialState::running, 4, 2));
  record.trials.push_back(trial(13, TrialState::failed, 16, 5));
  for (std::size_t i = 0; i < record.trials.size(); ++i) {
    record.hparams.push_back(Value::Map{{"lr", 0.5}});
  }
  TrialRecord& first = record.trials[0];
  first.latest = Measurement{Units{17}, std::numeric_limits<double>::quiet_NaN()};
  first.best = Measurement{Units{12}, 0.75};
  first.ended_at = Instant::from_micros(9'000'000);
  first.busy = Duration::seconds(4);
  first.attempts = 2;
  first.restarts = 1;
  first.checkpoints = KnownCheckpoints{{{"/c/12", Units{12}, 0.75, 2, 100}, {"/c/16", Units{16}, {}, 2, 100}},
                                       "/c/16",
                                       Units{16},
                                       "/c/12",
                                       Units{12},
                                       0.75};
  first.last_failure = std::string("exit code 1");
  first.reason = Reason{Reason::Why::max_length, 0U, 2U, {}, {}, {}, {}, ""};
  LiveAttempt live;
  live.worker = WorkerId{7};
  live.slots = {SlotIndex{0}, SlotIndex{1}};
  live.leased_at = Instant::from_micros(5'000'000);
  record.trials[2].live = live;
  record.best = TrialNumber{0};
  record.annotation = {"odd", {"good"}, true};
  record.failure_causes.note("killed", "exit code 1", TrialNumber{0});
  record.failure_causes.note("killed", "exit code 2", TrialNumber{3});
  record.by_state = {0, 1, 1, 1, 0, 1, 0};
  record.tally.count_anew(record.trials);
  record.slot_time = SlotTime(Duration::seconds(4), 2, live.leased_at);
  return record;
}

WorkerRecord worker() {
  WorkerRecord record{WorkerId{7}, "u", "gpu-7", 2, "gpu", "", true, SlotLedger(4), {}};
  record.slots.take({SlotIndex{0}}, LeaseId{9});
  record.attempts.insert({ExperimentId{3}, TrialNumber{2}, AttemptNumber{1}, LeaseId{9}});
  return record;
}

constexpr Instant now = Instant::from_micros(8'000'000);

std::string at(const Value& value, const char* key) {
  return compact_json(*value.as_map()->find(key));
}

TEST(ClientApi, ReasonHasAllFieldsOfTheStoredOne) {
  const Reason full{Reason::Why::promoted, 0U,      1U, 3U, 17U, 4U, 0.912, "so", 1, 2, 3, 0.5,
                    ExpectedResult{},      Units{9}};
  const Value stored = proto::encode_value(full);
  const Value shown = proto::encode_value(api::reason_with_text(full));
  EXPECT_EQ(shown.as_map()->size(), stored.as_map()->size() + 1);
  for (const auto& [key, member] : *stored.as_map()) {
    EXPECT_EQ(at(shown, key.c_str()), compact_json(member)) << key;
  }
}

TEST(ClientApi, AnswersAreReadBack) {
  const api::Trial trial = api::trial_of(experiment(), TrialNumber{0}, now);
  const Value value = proto::encode_value(trial);
  const auto again = proto::decode_value<api::Trial>(value);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(compact_json(proto::encode_value(*again)), compact_json(value));
  Value lacking = value;
  lacking.as_map()->erase("state");
  EXPECT_EQ(proto::decode_value<api::Trial>(lacking).error().message, "Trial: state is missing");
}

TEST(ClientApi, SummaryOfAnExperiment) {
  EXPECT_EQ(
      compact_json(proto::encode_value(api::summary_of(experiment()))),
      R"({"archived":false,"best":{"metric":0.75,"step":12,"trial":0},"common_failure":{"attempts":2,"trial":3,"why":"exit code 2"},)"
      R"("created_at":1.0,"ended_at":null,"id":3,"labels":["good"],"max_length":16,)"
      R"("metric":"val_acc","name":"digits","note":"odd","owner":"","progress":0.25,"project":"default","reason":"",)"
      R"("searcher":"adaptive_asha",)"
      R"("smaller_is_better":false,"starred":true,"state":"ACTIVE",)"
      R"("trials":{"CANCELED":0,"COMPLETED":1,"FAILED":1,"PAUSED":1,"PENDING":0,"RUNNING":1,"STOPPED":0},)"
      R"("trials_total":4,"unit":"epochs","workspace":"default"})");
}

TEST(ClientApi, SummaryOfAnEndedExperimentHasItsEnd) {
  ExperimentRecord record = experiment();
  record.state = ExperimentState::completed;
  record.ended_at = Instant::from_micros(10'500'000);
  EXPECT_EQ(at(proto::encode_value(api::summary_of(record)), "ended_at"), "10.5");
}

TEST(ClientApi, DetailCountsTrialsPerLength) {
  const Value detail = proto::encode_value(api::detail_of(experiment(), now));
  EXPECT_EQ(at(detail, "rungs"),
            R"([{"length":1,"reached":4},{"length":4,"reached":2},{"length":16,"reached":1}])");
  EXPECT_EQ(at(detail, "final_counts"), R"({"16":1,"4":1})");
  EXPECT_EQ(at(detail, "length_trained"), "25");
  EXPECT_EQ(at(detail, "length_full"), "64");
}

TEST(ClientApi, DetailCountsSlotTimeOfLiveAttempts) {
  const Value detail = proto::encode_value(api::detail_of(experiment(), now));
  EXPECT_EQ(at(detail, "slot_seconds"), "10.0");  // 4 of the first trial, 2 slots × 3 s of the third.
  EXPECT_EQ(at(detail, "first_lease_at"), "3.0");
  EXPECT_EQ(at(detail, "last_release_at"), "null");
}

TEST(ClientApi, DetailOfAnExperimentWithoutTrials) {
  ExperimentRecord record = experiment();
  record.trials.clear();
  record.tally = TrialTally();
  record.best.reset();
  const Value detail = proto::encode_value(api::detail_of(record, now));
  EXPECT_EQ(at(detail, "rungs"), "[]");
  EXPECT_EQ(at(detail, "final_counts"), "{}");
  EXPECT_EQ(at(detail, "best"), "null");
}

TEST(ClientApi, SumsAbove63BitsAreText) {
  ExperimentRecord record = experiment();
  record.config.searcher.max_length = Units{~std::uint64_t{0}};
  EXPECT_EQ(at(proto::encode_value(api::detail_of(record, now)), "length_full"), "\"73786976294838206460\"");
}

TEST(ClientApi, EndedTrial) {
  EXPECT_EQ(
      compact_json(proto::encode_value(api::trial_of(experiment(), TrialNumber{0}, now))),
      R"({"attempts":2,"best_checkpoint":"/c/12","best_checkpoint_metric":0.75,"best_checkpoint_step":12,"best_metric":0.75,"best_step":12,)"
      R"("checkpoint":"/c/16","checkpoint_step":16,"created_at":2.0,"ended_at":9.0,"hparams":{"lr":0.5},"id":10,"labels":[],)"
      R"("last_failure":"exit code 1","length":16,"metric":{"class":"nan"},"note":"","ran_unlogged":false,"reached":17,)"
      R"("reason":{"bracket":0,"rung":2,"text":)" +
          compact_json(sentences::describe(experiment().trials[0].reason)) +
          R"(,"why":"max_length"},"restarts":1,"slot_seconds":4.0,"starred":false,"state":"COMPLETED","trained":17,"trained_unreported":false,"trains_no_further":false,"trial":0,"worker":null,"workers":[]})");
}

TEST(ClientApi, RunningTrial) {
  const Value value = proto::encode_value(api::trial_of(experiment(), TrialNumber{2}, now));
  EXPECT_EQ(at(value, "worker"), "7");
  EXPECT_EQ(at(value, "workers"), "[7]");
  EXPECT_EQ(at(value, "slot_seconds"), "6.0");
  EXPECT_EQ(at(value, "metric"), "null");
  EXPECT_EQ(at(value, "best_metric"), "null");
  EXPECT_EQ(at(value, "best_step"), "null");
  EXPECT_EQ(at(value, "ended_at"), "null");
  EXPECT_EQ(at(value, "checkpoint"), "\"\"");
}

TEST(ClientApi, TrialThatRunsAgainAfterAPause) {
  ExperimentRecord record = experiment();
  Reason reason;
  reason.why = Reason::Why::user;
  reason.detail = "the experiment is paused";
  record.trials[2].reason = reason;
  EXPECT_EQ(at(*proto::encode_value(api::trial_of(record, TrialNumber{2}, now)).at_path("reason"), "text"),
            "\"requested by a user: the experiment was resumed\"");
}

TEST(ClientApi, ExplanationHasTextsAndNumbers) {
  const ExperimentRecord record = experiment();
  engine::Explanation explanation;
  explanation.now = engine::NowAwaitsResume{Units{3}};
  explanation.next = engine::NextResume{};
  explanation.results_to_come = 2;
  const Value value = proto::encode_value(api::explanation_of(record, TrialNumber{0}, explanation));
  EXPECT_EQ(at(value, "now"), "\"waits at 3 epochs because the experiment is paused\"");
  EXPECT_EQ(at(value, "next"), "\"the trial continues when the experiment is resumed\"");
  EXPECT_EQ(at(value, "results_needed"), "null");
  EXPECT_EQ(at(value, "results_to_come"), "2");
  EXPECT_EQ(at(value, "ahead"), "null");
}

TEST(ClientApi, ModelOrNull) {
  ExperimentRecord record = experiment();
  EXPECT_TRUE(proto::encode_value(api::model_of(record)).is_null()) << "its searcher has no model";
  Learnt learnt;
  learnt.results = 9;
  learnt.needed = 8;
  learnt.importance = {{"optimizer.lr", 0.75, 0.5}};
  learnt.lengths = {{Units{4}, 9, 0.875}};
  learnt.best = Learnt::Best{Value::Map{{"lr", 0.5}}, 0.9375, 0.125, TrialNumber(7)};
  auto searcher = std::make_unique<Quarter>();
  Quarter& quarter = *searcher;
  quarter.learnt_ = learnt;
  record.searcher = std::move(searcher);
  EXPECT_EQ(
      compact_json(proto::encode_value(api::model_of(record))),
      R"({"best":{"deviation":0.125,"hparams":{"lr":0.5},"mean":0.9375,"trial":7},"experiment":3,)"
      R"("hyperparameters":[{"length_scale":0.5,"name":"optimizer.lr","share":0.75}],)"
      R"("lengths":[{"correlation":0.875,"length":4,"results":9}],"metric":"val_acc","needed":8,"results":9,)"
      R"("unit":"epochs"})");
  quarter.learnt_->best->trial.reset();
  EXPECT_TRUE(proto::encode_value(api::model_of(record)).at_path("best.trial")->is_null());
  quarter.learnt_ = Learnt{};
  EXPECT_EQ(at(proto::encode_value(api::model_of(record)), "best"), "null");
}

TEST(ClientApi, BestResultOfAFinalistHasAMeanOrNull) {
  api::BestResult best;
  EXPECT_EQ(proto::encode_value(best).at_path("mean"), nullptr) << "the search has no finalists";
  best.mean.emplace();
  ASSERT_NE(proto::encode_value(best).at_path("mean"), nullptr);
  EXPECT_TRUE(proto::encode_value(best).at_path("mean")->is_null());
}

TEST(ClientApi, BestTrialOrNull) {
  ExperimentRecord record = experiment();
  EXPECT_EQ(proto::encode_value(api::best_trial(record, now)).as_map()->find("id")->as_integer()[0], 10);
  record.best.reset();
  EXPECT_TRUE(proto::encode_value(api::best_trial(record, now)).is_null());
}

TEST(ClientApi, Worker) {
  EXPECT_EQ(
      compact_json(proto::encode_value(api::worker_of(worker()))),
      R"({"allocation":null,"attempts":[{"attempt":1,"experiment":3,"trial":2}],"checkpoint_problem":null,"connected":false,"devices":[],"draining":false,"ends_at":null,)"
      R"("heard_at":null,"host":null,"id":7,"incarnation":2,"kills_by":"","labels":{},"leaked_processes":[],"loads":[],)"
      R"("max_unslotted":null,"name":"gpu-7","on_hold":[],"pool":"default","present":true,"probation":null,"quarantined":null,)"
      R"("resting":null,"slot_kind":"gpu","slots":4,"slots_held":1,"slots_quarantined":0,"slots_withdrawn":0,"suspect":false,)"
      R"("taken":[],"unslotted":0,"version":null,"withdrawn":[]})");
}

TEST(ClientApi, SlotsOfLeakedProcessesAreNotUnderLease) {
  WorkerRecord record = worker();
  const AttemptKey ended{ExperimentId{3}, TrialNumber{1}, AttemptNumber{2}, LeaseId{5}};
  record.slots.take({SlotIndex{2}}, ended.lease);
  record.leaked_processes[ended] = SlotQuarantine{{SlotIndex{2}}};
  const Value value = proto::encode_value(api::worker_of(record));
  EXPECT_EQ(at(value, "slots_held"), "1");
  EXPECT_EQ(at(value, "slots_quarantined"), "1");
  EXPECT_EQ(at(value, "leaked_processes"),
            R"([{"attempt":2,"experiment":3,"released":false,"slots":[2],"trial":1}])");
}

TEST(ClientApi, DevicesPoolAndTroublesOfAWorker) {
  WorkerRecord record = worker();
  record.devices = {{"GPU-1", "Fake", 2, 4096}};
  record.pool = "big";
  record.labels = {{"zone", "b"}};
  record.withdrawn[SlotIndex{3}] = WithdrawnSlot{"is lost"};
  record.withdrawn[SlotIndex{1}] = WithdrawnSlot{"is lost", true};
  const Value value = proto::encode_value(api::worker_of(record));
  EXPECT_EQ(at(value, "devices"), R"([{"index":2,"memory_bytes":4096,"name":"Fake","uuid":"GPU-1"}])");
  EXPECT_EQ(at(value, "pool"), "\"big\"");
  EXPECT_EQ(at(value, "labels"), R"({"zone":"b"})");
  EXPECT_EQ(at(value, "withdrawn"),
            R"([{"released":true,"slot":1,"why":"is lost"},{"released":false,"slot":3,"why":"is lost"}])");
  EXPECT_EQ(at(value, "slots_withdrawn"), "1");
}

TEST(ClientApi, Preview) {
  Preview preview;
  preview.trials = 5;
  preview.repeats = 2;
  preview.brackets = {{{Units{1}, Units{4}}, 5, 16, {5, 1}}, {{Units{4}}, 1, 2, {1}}};
  preview.final_counts = {{Units{1}, 4}, {Units{4}, 1}};
  preview.total_length = 8;
  preview.expected_length = 12;
  preview.full_length = static_cast<Cardinality>(1) << 100;
  preview.warnings = {"few \"trials\""};
  preview.advice = {"more of them"};
  EXPECT_EQ(proto::to_json(preview), R"({
  "trials": 5,
  "repeats": 2,
  "brackets": [
    {"lengths": [1,4], "trials": 5, "share": 16},
    {"lengths": [4], "trials": 1, "share": 2}
  ],
  "final_counts": {
    "1": 4,
    "4": 1
  },
  "total_length": 8,
  "expected_reach": [
    [5,1],
    [1]
  ],
  "expected_length": 12,
  "full_length": 1267650600228229401496703205376,
  "warnings": [
    "few \"trials\"",
    "advice: more of them"
  ]
})");
}

TEST(ClientApi, PreviewOfUncountableLengths) {
  Preview preview;
  preview.full_length = preview.total_length = preview.expected_length = engine::past_counting;
  const std::string json = proto::to_json(preview);
  EXPECT_NE(json.find("\"total_length\": null,"), std::string::npos) << json;
  EXPECT_NE(json.find("\"full_length\": null,"), std::string::npos) << json;
  EXPECT_NE(json.find("\"expected_length\": null,"), std::string::npos) << json;
  preview.total_length = engine::past_counting - 1;
  EXPECT_NE(proto::to_json(preview).find("\"total_length\": 340282366920938463463374607431768211454,"),
            std::string::npos);
}

TEST(ClientApi, ReasonHasItsSentence) {
  const Reason reason{Reason::Why::promoted, 0U, 1U, 3U, 17U, 4U, 0.912, ""};
  const Value value = proto::encode_value(api::reason_with_text(reason, "epochs"));
  EXPECT_EQ(*value.as_map()->find("text"), Value(sentences::describe(reason, "epochs")));
  EXPECT_EQ(at(value, "cutoff"), "0.912");
  EXPECT_EQ(value.as_map()->find("detail"), nullptr);
}

TEST(ClientApi, ErrorWithAndWithoutProblems) {
  const Error error{Errc::not_found, "no experiment 9"};
  EXPECT_EQ(compact_json(proto::encode_value(api::error_of(error))),
            R"({"code":"not_found","message":"no experiment 9"})");
  EXPECT_EQ(compact_json(proto::encode_value(api::error_of(error, {{"a.b", "is -3", "at least 1"}}))),
            R"({"code":"not_found","message":"no experiment 9",)"
            R"("problems":[{"allowed":"at least 1","path":"a.b","what":"is -3"}]})");
}

}  // namespace
}  // namespace hpsearch::test

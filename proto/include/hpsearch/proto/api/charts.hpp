#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/api/field_types.hpp"

namespace hpsearch::api {

struct CurveEvent {
  static constexpr Schema schema{"CurveEvent", "What happened to a trial."};
  std::uint64_t step = 0;
  double time = 0;
  OneOf<"promoted", "paused", "stopped", "restarted", "finished"> what{};

  static void list_fields(auto& fields, auto& self) {
    fields("step", self.step, "Step of the trial at that time.");
    fields("time", self.time, "When it happened.");
    fields("what", self.what, "What happened to the trial.");
  }
};

struct Curve {
  static constexpr Schema schema{"Curve", "A learning curve."};
  engine::TrialNumber trial{};
  std::optional<std::uint64_t> rung{};
  engine::TrialState state{};
  std::vector<std::uint64_t> step{};
  std::vector<std::optional<double>> time{};
  std::vector<std::optional<double>> min{};
  std::vector<std::optional<double>> max{};
  std::vector<std::optional<double>> last{};
  std::vector<std::pair<std::uint64_t, std::string>> nonfinite{};
  std::vector<CurveEvent> events{};

  static void list_fields(auto& fields, auto& self) {
    fields("trial", self.trial, "Number of the trial.");
    fields("rung", self.rung,
           "Number of the longest rung that the trial reached, from 0; null without rungs.");
    fields("state", self.state, "State of the trial.");
    fields("step", self.step, "For each part of the curve the step of its last value.");
    fields("time", self.time, "For each part the time of its last value; null if the store kept none.");
    fields("min", self.min, "For each part its smallest value.");
    fields("max", self.max, "For each part its largest value.");
    fields("last", self.last, "For each part its last value.");
    fields("nonfinite", self.nonfinite,
           "Values that are not finite: pairs of a step and `nan`, `inf` or `-inf`.");
    fields("events", self.events, "Promotions, pauses and ends of the trial, in order.");
  }
};

struct RungLine {
  static constexpr Schema schema{"RungLine", "Where a rung cuts curves off."};
  std::uint64_t bracket = 0;
  std::uint64_t rung = 0;
  std::uint64_t length = 0;
  std::optional<double> cut_off{};

  static void list_fields(auto& fields, auto& self) {
    fields("bracket", self.bracket, "Number of the bracket.");
    fields("rung", self.rung, "Number of the rung, from 0.");
    fields("length", self.length, "Length of the rung.");
    fields("cut_off", self.cut_off, "Metric of the last result that goes on; null if none does.");
  }
};

struct Curves {
  static constexpr Schema schema{"Curves", "Learning curves of chosen trials."};
  std::string metric{};
  std::string group{};
  std::string unit{};
  std::uint64_t lsn = 0;
  std::vector<Curve> trials{};
  std::vector<RungLine> rungs{};

  static void list_fields(auto& fields, auto& self) {
    fields("metric", self.metric, "Name of the metric.");
    fields("group", self.group, "The part of the name before its last dot.");
    fields("unit", self.unit, "Unit of steps.");
    fields("lsn", self.lsn, "Sequence number of the last event that the curves contain.");
    fields("trials", self.trials, "The curves, by trial.");
    fields("rungs", self.rungs, "The cut-offs of the rungs.");
  }
};

struct CurveDensity {
  static constexpr Schema schema{"CurveDensity", "How many curves pass through each part of the plot."};
  std::string metric{};
  std::vector<std::uint64_t> steps{};
  std::vector<double> values{};
  std::vector<std::vector<std::uint64_t>> counts{};
  std::uint64_t below = 0;
  std::uint64_t above = 0;
  std::uint64_t nonfinite = 0;
  std::uint64_t trials = 0;

  static void list_fields(auto& fields, auto& self) {
    fields("metric", self.metric, "Name of the metric.");
    fields("steps", self.steps, "Edges of the parts along the steps.");
    fields("values", self.values, "Edges of the parts along the values.");
    fields("counts", self.counts,
           "For each part of the steps the number of values in each part of the values.");
    fields("below", self.below, "Number of values below all edges.");
    fields("above", self.above, "Number of values above all edges.");
    fields("nonfinite", self.nonfinite, "Number of values that are not finite.");
    fields("trials", self.trials, "Number of trials that reported the metric.");
  }
};

struct HparamShare {
  static constexpr Schema schema{"HparamShare", "How much a hyperparameter matters."};
  std::string name{};
  double share = 0;
  double deviation = 0;
  std::uint64_t rank = 0;

  static void list_fields(auto& fields, auto& self) {
    fields("name", self.name, "Path of the hyperparameter.");
    fields("share", self.share, "Its share of the importance; all shares add up to 1.");
    fields("deviation", self.deviation, "Standard deviation of the share between samples of the results.");
    fields("rank", self.rank, "Rank of the share, from 1.");
  }
};

struct Importance {
  static constexpr Schema schema{"Importance", "How much each hyperparameter matters, by PED-ANOVA."};
  std::string metric{};
  std::uint64_t rung = 0;
  std::optional<std::uint64_t> length{};
  std::uint64_t results = 0;
  std::uint64_t others = 0;
  std::uint64_t needed = 0;
  double gamma = 0;
  OneOf<"results", "forest"> method{};
  std::vector<HparamShare> hyperparameters{};
  std::string reason{};

  static void list_fields(auto& fields, auto& self) {
    fields("metric", self.metric, "Name of the searcher's metric.");
    fields("rung", self.rung, "Number of the rung whose results are compared, from 0.");
    fields("length", self.length, "Length of that rung.");
    fields("results", self.results, "Number of finite results at that length.");
    fields("others", self.others,
           "Number of trials that did not get there or diverged; they count as worse.");
    fields("needed", self.needed, "Number of results that an answer needs.");
    fields("gamma", self.gamma, "Share of the best results, which are compared with all.");
    fields("method", self.method,
           "`results`: the results themselves are compared; `forest`: where a sampler that learns preferred "
           "a part of the space, what a forest of regression trees expects evenly over the space.");
    fields("hyperparameters", self.hyperparameters, "The shares, largest first; empty with a `reason`.");
    fields("reason", self.reason, "Why there are no shares; \"\" if there are.");
  }
};

struct BestPoint {
  static constexpr Schema schema{"BestPoint", "A moment at which the best metric became better."};
  engine::TrialNumber trial{};
  double metric = 0;
  std::uint64_t length = 0;
  double time = 0;
  double slot_seconds = 0;
  std::uint64_t trials = 0;

  static void list_fields(auto& fields, auto& self) {
    fields("trial", self.trial, "Number of the trial that reported the metric.");
    fields("metric", self.metric, "The new best metric.");
    fields("length", self.length, "Length at which it was measured.");
    fields("time", self.time, "When it was reported.");
    fields("slot_seconds", self.slot_seconds, "Slot time that all trials had used by then.");
    fields("trials", self.trials, "How many trials there were by then.");
  }
};

struct HistoryEnd {
  static constexpr Schema schema{"HistoryEnd", "Where a history stands now."};
  double time = 0;
  double slot_seconds = 0;
  std::uint64_t trials = 0;

  static void list_fields(auto& fields, auto& self) {
    fields("time", self.time, "The time of this answer, or when the experiment ended.");
    fields("slot_seconds", self.slot_seconds, "Slot time that all trials have used.");
    fields("trials", self.trials, "Number of trials of the experiment.");
  }
};

struct HistoryBudget {
  static constexpr Schema schema{"HistoryBudget", "Limits of a search."};
  std::optional<double> max_time{};
  std::optional<double> max_slot_hours{};
  std::optional<std::uint64_t> max_failed_trials{};

  static void list_fields(auto& fields, auto& self) {
    fields("max_time", self.max_time, "The longest time of the search in seconds; null: no limit.");
    fields("max_slot_hours", self.max_slot_hours, "The most slot hours of the search; null: no limit.");
    fields("max_failed_trials", self.max_failed_trials, "The most failed trials; null: no limit.");
  }
};

struct History {
  static constexpr Schema schema{"History", "How the best metric became better."};
  std::string metric{};
  bool smaller_is_better = false;
  std::string unit{};
  std::optional<double> started_at{};
  std::vector<BestPoint> points{};
  HistoryEnd end{};
  std::optional<double> target{};
  std::optional<HistoryBudget> budget{};

  static void list_fields(auto& fields, auto& self) {
    fields("metric", self.metric, "Name of the searcher's metric.");
    fields("smaller_is_better", self.smaller_is_better, "Whether smaller metrics are better.");
    fields("unit", self.unit, "Unit of lengths.");
    fields("started_at", self.started_at, "When the first trial got its slots; null before that.");
    fields("points", self.points, "Each moment at which the best metric improved, in order.");
    fields("end", self.end, "Where the history stands now.");
    fields("target", self.target, "The metric at which the search ends; null if it has none.");
    fields("budget", self.budget, "Limits of the search; null if there are none.");
  }
};

struct MetricName {
  static constexpr Schema schema{"MetricName", "A metric that programs report."};
  std::string name{};
  std::string group{};
  std::uint64_t count = 0;
  std::uint64_t trials = 0;
  std::uint64_t first_step = 0;
  std::uint64_t last_step = 0;

  static void list_fields(auto& fields, auto& self) {
    fields("name", self.name, "Name of the metric, as programs report it.");
    fields("group", self.group, "The part of the name before its last dot; \"\" without a dot.");
    fields("count", self.count, "Number of reports that contain the metric.");
    fields("trials", self.trials, "Number of trials that reported the metric.");
    fields("first_step", self.first_step, "Lowest step at which it was reported.");
    fields("last_step", self.last_step, "Highest step at which it was reported.");
  }
};

struct MetricNames {
  static constexpr Schema schema{"MetricNames", "The metrics that programs report."};
  std::vector<MetricName> metrics{};

  static void list_fields(auto& fields, auto& self) {
    fields("metrics", self.metrics, "All metrics, by name.");
  }
};

struct RungResult {
  static constexpr Schema schema{"RungResult", "A result in a rung."};
  engine::TrialNumber trial{};
  std::optional<double> metric{};
  std::optional<std::string> nonfinite{};
  std::uint64_t rank = 0;
  OneOf<"promoted", "waiting", "stopped", "finished", "failed"> state{};

  static void list_fields(auto& fields, auto& self) {
    fields("trial", self.trial, "Number of the trial.");
    fields("metric", self.metric, "The metric at the rung; null if it is missing or not finite.");
    fields("nonfinite", self.nonfinite, "`nan`, `inf` or `-inf` if the trial reported that; else null.");
    fields("rank", self.rank, "Rank among the results of the rung; 0 is the best.");
    fields("state", self.state, "What became of the trial at this rung.");
  }
};

struct LadderRung {
  static constexpr Schema schema{"LadderRung", "A rung, and what stands in it."};
  std::uint64_t rung = 0;
  std::uint64_t length = 0;
  std::string rule{};
  std::uint64_t keep = 0;
  std::uint64_t size = 0;
  std::optional<double> cut_off{};
  std::vector<RungResult> results{};
  std::vector<engine::TrialNumber> training{};

  static void list_fields(auto& fields, auto& self) {
    fields("rung", self.rung, "Number of the rung; 0 is the shortest.");
    fields("length", self.length, "Length at which the rung compares trials.");
    fields("rule", self.rule, "The rule by which trials go on, as a sentence.");
    fields("keep", self.keep, "How many of its results go on now.");
    fields("size", self.size, "How many results the rung has.");
    fields("cut_off", self.cut_off, "Metric of the last result that goes on; null if none does.");
    fields("results", self.results, "The results of the rung, best first.");
    fields("training", self.training, "Numbers of the trials that train towards the rung.");
  }
};

struct LadderBracket {
  static constexpr Schema schema{"LadderBracket", "A bracket."};
  std::uint64_t bracket = 0;
  std::string name{};
  std::vector<LadderRung> rungs{};

  static void list_fields(auto& fields, auto& self) {
    fields("bracket", self.bracket, "Number of the bracket, from 0.");
    fields("name", self.name, "Name of the bracket for people.");
    fields("rungs", self.rungs, "The rungs of the bracket, shortest first.");
  }
};

struct RungLadder {
  static constexpr Schema schema{"RungLadder", "Where all trials stand at one moment."};
  std::uint64_t lsn = 0;
  double time = 0;
  std::uint64_t first_lsn = 0;
  std::uint64_t last_lsn = 0;
  std::string metric{};
  bool smaller_is_better = false;
  std::vector<LadderBracket> brackets{};

  static void list_fields(auto& fields, auto& self) {
    fields("lsn", self.lsn, "Sequence number of the event after which the ladder looked like this.");
    fields("time", self.time, "When that event happened.");
    fields("first_lsn", self.first_lsn, "Sequence number of the event that created the experiment.");
    fields("last_lsn", self.last_lsn, "Sequence number of the last event that changed the experiment.");
    fields("metric", self.metric, "Name of the searcher's metric.");
    fields("smaller_is_better", self.smaller_is_better, "Whether smaller metrics are better.");
    fields("brackets", self.brackets, "The brackets of the search.");
  }
};

struct TimelineSlot {
  static constexpr Schema schema{"TimelineSlot", "A slot that the experiment may use."};
  engine::WorkerId worker{};
  std::string name{};
  std::optional<engine::SlotIndex> slot{};
  double busy = 0;
  double taken = 0;
  double away = 0;

  static void list_fields(auto& fields, auto& self) {
    fields("worker", self.worker, "ID of the worker.");
    fields("name", self.name, "Name of the worker.");
    fields("slot", self.slot, "Number of the slot on its worker; null for attempts without a slot.");
    fields("busy", self.busy, "Share of the time window in which the experiment held the slot.");
    fields("taken", self.taken, "Share of the window in which other experiments held it.");
    fields("away", self.away, "Share of the window in which its worker was away.");
  }
};

struct TimelineTaken {
  static constexpr Schema schema{"TimelineTaken", "A time in which another experiment held a slot."};
  engine::WorkerId worker{};
  engine::SlotIndex slot{};
  std::optional<engine::ExperimentId> experiment{};
  std::optional<engine::TrialNumber> trial{};
  double from = 0;
  std::optional<double> to{};

  static void list_fields(auto& fields, auto& self) {
    fields("worker", self.worker, "ID of the worker.");
    fields("slot", self.slot, "Number of the slot on its worker.");
    fields("experiment", self.experiment,
           "ID of the experiment that held it; null if it is in another workspace.");
    fields("trial", self.trial, "Number of the last trial that held it; null if that is not shown.");
    fields("from", self.from, "When it began.");
    fields("to", self.to, "When it ended; null while it lasts.");
  }
};

struct TimelineBar {
  static constexpr Schema schema{"TimelineBar", "An attempt on a slot."};
  engine::WorkerId worker{};
  std::optional<engine::SlotIndex> slot{};
  engine::TrialNumber trial{};
  engine::AttemptNumber attempt{};
  double from = 0;
  std::optional<double> to{};
  OneOf<"running", "finished", "paused", "stopped", "failed", "lost", "preempted", "canceled"> outcome{};

  static void list_fields(auto& fields, auto& self) {
    fields("worker", self.worker, "ID of the worker.");
    fields("slot", self.slot, "Number of the slot on its worker; null for an attempt without a slot.");
    fields("trial", self.trial, "Number of the trial.");
    fields("attempt", self.attempt, "Number of the attempt.");
    fields("from", self.from, "When the lease began.");
    fields("to", self.to, "When the lease ended; null while it lasts.");
    fields("outcome", self.outcome, "How the attempt ended, or `running`.");
  }
};

struct TimelineQuarantine {
  static constexpr Schema schema{"TimelineQuarantine",
                                 "A time of a worker: in which it got no new leases, or was there."};
  engine::WorkerId worker{};
  double from = 0;
  std::optional<double> to{};

  static void list_fields(auto& fields, auto& self) {
    fields("worker", self.worker, "ID of the worker.");
    fields("from", self.from, "When it began.");
    fields("to", self.to, "When it ended; null while it lasts.");
  }
};

struct TimelineBins {
  static constexpr Schema schema{"TimelineBins", "How much ran on each slot in each part of the window."};
  std::vector<double> edges{};
  std::vector<std::vector<double>> busy{};
  std::vector<std::vector<double>> taken{};
  std::vector<double> trials{};

  static void list_fields(auto& fields, auto& self) {
    fields("edges", self.edges, "Edges of the parts of the window.");
    fields("busy", self.busy, "For each slot and part the share in which the experiment held the slot.");
    fields("taken", self.taken, "For each slot and part the share in which other experiments held it.");
    fields("trials", self.trials, "For each part the number of running trials.");
  }
};

struct Timeline {
  static constexpr Schema schema{"Timeline", "Which attempts held the slots, and when."};
  double from = 0;
  double to = 0;
  double now = 0;
  std::vector<TimelineSlot> slots{};
  std::vector<TimelineTaken> taken{};
  std::vector<TimelineQuarantine> presences{};
  std::vector<TimelineQuarantine> quarantines{};
  std::optional<std::vector<TimelineBar>> bars{};
  std::optional<TimelineBins> bins{};

  static void list_fields(auto& fields, auto& self) {
    fields("from", self.from, "Start of the time window.");
    fields("to", self.to, "End of the time window.");
    fields("now", self.now, "The time of this answer.");
    fields("slots", self.slots, "All slots that the experiment may use, and those that it used.");
    fields("taken", self.taken, "When other experiments held these slots.");
    fields("presences", self.presences, "When the workers of these slots were present.");
    fields("quarantines", self.quarantines, "When the workers of these slots were in quarantine.");
    fields.maybe("bars", self.bars,
                 "The attempts on these slots; missing if there are too many, then `bins` is there.");
    fields.maybe("bins", self.bins, "Instead of `bars`: shares of time by slot and part of the window.");
  }
};

struct ComparedLength {
  static constexpr Schema schema{"ComparedLength", "A length at which trials are compared."};
  std::uint64_t length = 0;
  std::uint64_t results = 0;

  static void list_fields(auto& fields, auto& self) {
    fields("length", self.length, "Length at which trials can be compared.");
    fields("results", self.results, "Number of finite results at this length.");
  }
};

struct ColumnField {
  static constexpr Schema schema{"ColumnField", "A column."};
  std::string name{};
  OneOf<"f64", "i64", "u32", "u16", "u8"> type{};
  std::optional<std::vector<engine::Value>> words{};

  static void list_fields(auto& fields, auto& self) {
    fields("name", self.name, "Name of the column.");
    fields("type", self.type, "Type of its numbers in the binary form.");
    fields.maybe("words", self.words, "What the numbers of this column stand for: word 0, word 1 and so on.");
  }
};

struct Columns {
  static constexpr Schema schema{"Columns", "Trials as columns of numbers."};
  std::uint64_t lsn = 0;
  std::uint64_t rows = 0;
  std::uint64_t total = 0;
  std::vector<std::string> terms{};
  std::optional<std::uint64_t> length{};
  std::vector<ComparedLength> lengths{};
  std::vector<ColumnField> fields{};
  std::vector<std::vector<engine::Value>> columns{};

  static void list_fields(auto& fields, auto& self) {
    fields("lsn", self.lsn, "Sequence number of the event after which all rows looked like this.");
    fields("rows", self.rows, "Number of rows.");
    fields("total", self.total, "Number of trials of the experiment.");
    fields("terms", self.terms,
           "The texts that the condition `where` joins by `and`; without a condition none.");
    fields("length", self.length,
           "Length at which `result` was measured; null if trials are not compared at one length.");
    fields("lengths", self.lengths, "Other lengths that the parameter `length` accepts: the rungs.");
    fields("fields", self.fields, "The columns, in order.");
    fields("columns", self.columns, "For each field a list with a number or null for each row.");
  }
};

}  // namespace hpsearch::api

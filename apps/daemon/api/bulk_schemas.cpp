#include "daemon/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

constexpr Field best_point_fields[] = {
    {"trial", "integer", "Number of the trial that reported the metric."},
    {"metric", "number", "The new best metric."},
    {"length", "count", "Length at which it was measured."},
    {"time", "number", "When it was reported."},
    {"slot_seconds", "number", "Slot time that all trials had used by then."},
    {"trials", "integer", "How many trials there were by then."},
};
constexpr Field history_fields[] = {
    {"metric", "text", "Name of the searcher's metric."},
    {"smaller_is_better", "flag", "Whether smaller metrics are better."},
    {"unit", "text", "Unit of lengths."},
    {"started_at", "number?", "When the first trial got its slots; null before that."},
    {"points", "[BestPoint]", "Each moment at which the best metric improved, in order."},
    {"end", "map", "The present values of `time`, `slot_seconds` and `trials`."},
    {"target", "number?", "The metric at which the search ends; null if it has none."},
    {"budget", "any",
     "The limits `max_time`, `max_slot_hours` and `max_failed_trials`; null if there are none."},
};
constexpr Field metric_name_fields[] = {
    {"name", "text", "Name of the metric, as programs report it."},
    {"group", "text", "The part of the name before its last dot; \"\" without a dot."},
    {"count", "integer", "Number of reports that contain the metric."},
    {"trials", "integer", "Number of trials that reported the metric."},
    {"first_step", "integer", "Lowest step at which it was reported."},
    {"last_step", "integer", "Highest step at which it was reported."},
};
constexpr Field metric_names_fields[] = {
    {"metrics", "[MetricName]", "All metrics, by name."},
};
constexpr Field rung_result_fields[] = {
    {"trial", "integer", "Number of the trial."},
    {"metric", "number?", "The metric at the rung; null if it is missing or not finite."},
    {"nonfinite", "text?", "`nan`, `inf` or `-inf` if the trial reported that; else null."},
    {"rank", "integer", "Rank among the results of the rung; 0 is the best."},
    {"state", "promoted|waiting|stopped|finished|failed", "What became of the trial at this rung."},
};
constexpr Field ladder_rung_fields[] = {
    {"rung", "integer", "Number of the rung; 0 is the shortest."},
    {"length", "count", "Length at which the rung compares trials."},
    {"rule", "text", "The rule by which trials go on, as a sentence."},
    {"keep", "integer", "How many of its results go on now."},
    {"size", "integer", "How many results the rung has."},
    {"cut_off", "number?", "Metric of the last result that goes on; null if none does."},
    {"results", "[RungResult]", "The results of the rung, best first."},
    {"training", "[integer]", "Numbers of the trials that train towards the rung."},
};
constexpr Field ladder_bracket_fields[] = {
    {"bracket", "integer", "Number of the bracket, from 0."},
    {"name", "text", "Name of the bracket for people."},
    {"rungs", "[LadderRung]", "The rungs of the bracket, shortest first."},
};
constexpr Field ladder_fields[] = {
    {"lsn", "integer", "Sequence number of the event after which the ladder looked like this."},
    {"time", "number", "When that event happened."},
    {"first_lsn", "integer", "Sequence number of the event that created the experiment."},
    {"last_lsn", "integer", "Sequence number of the last event that changed the experiment."},
    {"metric", "text", "Name of the searcher's metric."},
    {"smaller_is_better", "flag", "Whether smaller metrics are better."},
    {"brackets", "[LadderBracket]", "The brackets of the search."},
};
constexpr Field timeline_slot_fields[] = {
    {"worker", "integer", "ID of the worker."},
    {"name", "text", "Name of the worker."},
    {"slot", "integer?", "Number of the slot on its worker; null for attempts without a slot."},
    {"busy", "number", "Share of the time window in which the experiment held the slot."},
    {"taken", "number", "Share of the window in which other experiments held it."},
    {"away", "number", "Share of the window in which its worker was away."},
};
constexpr Field timeline_taken_fields[] = {
    {"worker", "integer", "ID of the worker."},
    {"slot", "integer", "Number of the slot on its worker."},
    {"experiment", "integer?", "ID of the experiment that held it; null if it is in another workspace."},
    {"trial", "integer?", "Number of the last trial that held it; null if that is not shown."},
    {"from", "number", "When it began."},
    {"to", "number?", "When it ended; null while it lasts."},
};
constexpr Field timeline_bar_fields[] = {
    {"worker", "integer", "ID of the worker."},
    {"slot", "integer?", "Number of the slot on its worker; null for an attempt without a slot."},
    {"trial", "integer", "Number of the trial."},
    {"attempt", "integer", "Number of the attempt."},
    {"from", "number", "When the lease began."},
    {"to", "number?", "When the lease ended; null while it lasts."},
    {"outcome", "running|finished|paused|stopped|failed|lost|preempted|canceled",
     "How the attempt ended, or `running`."},
};
constexpr Field timeline_quarantine_fields[] = {
    {"worker", "integer", "ID of the worker."},
    {"from", "number", "When it began."},
    {"to", "number?", "When it ended; null while it lasts."},
};
constexpr Field timeline_fields[] = {
    {"from", "number", "Start of the time window."},
    {"to", "number", "End of the time window."},
    {"now", "number", "The time of this answer."},
    {"slots", "[TimelineSlot]", "All slots that the experiment may use, and those that it used."},
    {"taken", "[TimelineTaken]", "When other experiments held these slots."},
    {"presences", "[TimelineQuarantine]", "When the workers of these slots were present."},
    {"quarantines", "[TimelineQuarantine]", "When the workers of these slots were in quarantine."},
    {"bars?", "[TimelineBar]",
     "The attempts on these slots; missing if there are too many, then `bins` is there."},
    {"bins?", "map",
     "Instead of `bars`: edges of time bins; for each slot and bin the share that the experiment and others "
     "held; the number of running trials in each bin."},
};
constexpr Field column_field_fields[] = {
    {"name", "text", "Name of the column."},
    {"type", "f64|i64|u32|u16|u8", "Type of its numbers in the binary form."},
    {"words?", "[any]", "What the numbers of this column stand for: word 0, word 1 and so on."},
};
constexpr Field compared_length_fields[] = {
    {"length", "count", "Length at which trials can be compared."},
    {"results", "integer", "Number of finite results at this length."},
};
constexpr Field columns_fields[] = {
    {"lsn", "integer", "Sequence number of the event after which all rows looked like this."},
    {"rows", "integer", "Number of rows."},
    {"total", "integer", "Number of trials of the experiment."},
    {"terms", "[text]", "The texts that the condition `where` joins by `and`; without a condition none."},
    {"length", "count?",
     "Length at which `result` was measured; null if trials are not compared at one length."},
    {"lengths", "[ComparedLength]", "Other lengths that the parameter `length` accepts: the rungs."},
    {"fields", "[ColumnField]", "The columns, in order."},
    {"columns", "[[any]]", "For each field a list with a number or null for each row."},
};

constexpr Field curve_event_fields[] = {
    {"step", "count", "Step of the trial at that time."},
    {"time", "number", "When it happened."},
    {"what", "promoted|paused|stopped|restarted|finished", "What happened to the trial."},
};
constexpr Field curve_fields[] = {
    {"trial", "integer", "Number of the trial."},
    {"rung", "integer?", "Number of the longest rung that the trial reached, from 0; null without rungs."},
    {"state", "text", "State of the trial."},
    {"step", "[count]", "For each part of the curve the step of its last value."},
    {"time", "[number]", "For each part the time of its last value."},
    {"min", "[number]", "For each part its smallest value."},
    {"max", "[number]", "For each part its largest value."},
    {"last", "[number]", "For each part its last value."},
    {"nonfinite", "[any]", "Values that are not finite: pairs of a step and `nan`, `inf` or `-inf`."},
    {"events", "[CurveEvent]", "Promotions, pauses and ends of the trial, in order."},
};
constexpr Field rung_line_fields[] = {
    {"bracket", "integer", "Number of the bracket."},
    {"rung", "integer", "Number of the rung, from 0."},
    {"length", "count", "Length of the rung."},
    {"cut_off", "number?", "Metric of the last result that goes on; null if none does."},
};
constexpr Field curves_fields[] = {
    {"metric", "text", "Name of the metric."},
    {"group?", "text", "The part of the name before its last dot."},
    {"unit?", "text", "Unit of steps."},
    {"lsn?", "integer", "Sequence number of the last event that the curves contain."},
    {"trials?", "any", "A list of Curve; in a density the number of trials that reported the metric."},
    {"rungs?", "[RungLine]", "The cut-offs of the rungs."},
    {"steps?", "[integer]", "In a density: edges of the parts along the steps."},
    {"values?", "[number]", "In a density: edges of the parts along the values."},
    {"counts?", "[[integer]]",
     "In a density: for each part of the steps the number of values in each part of the values."},
    {"below?", "integer", "In a density: number of values below all edges."},
    {"above?", "integer", "In a density: number of values above all edges."},
    {"nonfinite?", "integer", "In a density: number of values that are not finite."},
};
constexpr Field hparam_share_fields[] = {
    {"name", "text", "Path of the hyperparameter."},
    {"share", "number", "Its share of the importance; all shares add up to 1."},
    {"deviation", "number", "Standard deviation of the share between samples of the results."},
    {"rank", "integer", "Rank of the share, from 1."},
};
constexpr Field importance_fields[] = {
    {"metric", "text", "Name of the searcher's metric."},
    {"rung", "integer", "Number of the rung whose results are compared, from 0."},
    {"length", "any", "Length of that rung."},
    {"results", "integer", "Number of finite results at that length."},
    {"others", "integer", "Number of trials that did not get there or diverged; they count as worse."},
    {"needed", "integer", "Number of results that an answer needs."},
    {"gamma", "number", "Share of the best results, which are compared with all."},
    {"method", "results|forest",
     "`results`: the results themselves are compared; `forest`: where a sampler that learns preferred a part "
     "of the space, what a forest of regression trees expects evenly over the space."},
    {"hyperparameters", "[HparamShare]", "The shares, largest first; empty with a `reason`."},
    {"reason", "text", "Why there are no shares; \"\" if there are."},
};

constexpr Schema bulk_table[] = {
    {"CurveEvent", "What happened to a trial.", curve_event_fields},
    {"Curve", "A learning curve.", curve_fields},
    {"RungLine", "Where a rung cuts curves off.", rung_line_fields},
    {"Curves", "Learning curves, or a density of them.", curves_fields},
    {"HparamShare", "How much a hyperparameter matters.", hparam_share_fields},
    {"Importance", "How much each hyperparameter matters, by PED-ANOVA.", importance_fields},
    {"BestPoint", "A moment at which the best metric became better.", best_point_fields},
    {"History", "How the best metric became better.", history_fields},
    {"MetricName", "A metric that programs report.", metric_name_fields},
    {"MetricNames", "The metrics that programs report.", metric_names_fields},
    {"RungResult", "A result in a rung.", rung_result_fields},
    {"LadderRung", "A rung, and what stands in it.", ladder_rung_fields},
    {"LadderBracket", "A bracket.", ladder_bracket_fields},
    {"RungLadder", "Where all trials stand at one moment.", ladder_fields},
    {"TimelineSlot", "A slot that the experiment may use.", timeline_slot_fields},
    {"TimelineTaken", "A time in which another experiment held a slot.", timeline_taken_fields},
    {"TimelineBar", "An attempt on a slot.", timeline_bar_fields},
    {"TimelineQuarantine", "A time of a worker: in which it got no new leases, or was there.",
     timeline_quarantine_fields},
    {"Timeline", "Which attempts held the slots, and when.", timeline_fields},
    {"ComparedLength", "A length at which trials are compared.", compared_length_fields},
    {"ColumnField", "A column.", column_field_fields},
    {"Columns", "Trials as columns of numbers.", columns_fields},
};

}  // namespace

std::span<const Schema> bulk_schemas() noexcept {
  return bulk_table;
}

}  // namespace hpsearch::daemon

#include "daemon/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

constexpr Field best_point_fields[] = {
    {"trial", "integer"},
    {"metric", "number"},
    {"length", "count", "Where it was measured."},
    {"time", "number"},
    {"slot_seconds", "number", "What all trials had used by then."},
    {"trials", "integer", "As many there were."},
};
constexpr Field history_fields[] = {
    {"metric", "text"},        {"smaller_is_better", "flag"},
    {"unit", "text"},          {"started_at", "number?", "When the first trial got its slots."},
    {"points", "[BestPoint]"}, {"end", "map", "time, slot_seconds and trials as they are now."},
    {"target", "number?"},     {"budget", "any", "max_time, max_slot_hours and max_failed_trials, or null."},
};
constexpr Field metric_name_fields[] = {
    {"name", "text"},
    {"group", "text", "What stands before the last dot of the name, or nothing."},
    {"count", "integer", "Reports of it."},
    {"trials", "integer", "That reported it."},
    {"first_step", "integer"},
    {"last_step", "integer"},
};
constexpr Field metric_names_fields[] = {{"metrics", "[MetricName]"}};
constexpr Field rung_result_fields[] = {
    {"trial", "integer"},
    {"metric", "number?", "Null where it is missing or not finite."},
    {"nonfinite", "text?", "nan, inf or -inf if the trial reported that."},
    {"rank", "integer", "From 0, the best."},
    {"state", "promoted|waiting|stopped|finished|failed"},
};
constexpr Field ladder_rung_fields[] = {
    {"rung", "integer", "From 0, the shortest."},
    {"length", "count"},
    {"rule", "text", "Who goes on, in words."},
    {"keep", "integer", "As many of its results go on."},
    {"size", "integer"},
    {"cut_off", "number?", "Metric of the last result that goes on."},
    {"results", "[RungResult]", "Best first."},
    {"training", "[integer]", "Trials on their way to it."},
};
constexpr Field ladder_bracket_fields[] = {
    {"bracket", "integer"}, {"name", "text"}, {"rungs", "[LadderRung]", "Shortest first."}};
constexpr Field ladder_fields[] = {
    {"lsn", "integer", "The event after which everything was so."},
    {"time", "number"},
    {"first_lsn", "integer", "The event that created the experiment."},
    {"last_lsn", "integer", "The last event that changed the experiment."},
    {"metric", "text"},
    {"smaller_is_better", "flag"},
    {"brackets", "[LadderBracket]"},
};
constexpr Field timeline_slot_fields[] = {
    {"worker", "integer"},
    {"name", "text"},
    {"slot", "integer?", "Null: beside the slots."},
    {"busy", "number", "The share of the window in which the experiment held it."},
    {"taken", "number", "In which others held it."},
    {"away", "number", "In which its worker was not there."},
};
constexpr Field timeline_taken_fields[] = {
    {"worker", "integer"},
    {"slot", "integer"},
    {"experiment", "integer?", "Null: of another workspace."},
    {"trial", "integer?", "The last one."},
    {"from", "number"},
    {"to", "number?", "Null while it lasts."},
};
constexpr Field timeline_bar_fields[] = {
    {"worker", "integer"},
    {"slot", "integer?"},
    {"trial", "integer"},
    {"attempt", "integer"},
    {"from", "number"},
    {"to", "number?", "Null while it runs."},
    {"outcome", "running|finished|paused|stopped|failed|lost|preempted|canceled"},
};
constexpr Field timeline_quarantine_fields[] = {
    {"worker", "integer"},
    {"from", "number"},
    {"to", "number?", "Null while it lasts."},
};
constexpr Field timeline_fields[] = {
    {"from", "number"},
    {"to", "number"},
    {"now", "number"},
    {"slots", "[TimelineSlot]", "All that the experiment may use, and those that it used."},
    {"taken", "[TimelineTaken]", "Where other experiments held them."},
    {"presences", "[TimelineQuarantine]", "When their workers were there."},
    {"quarantines", "[TimelineQuarantine]", "Of the workers of these slots."},
    {"bars?", "[TimelineBar]"},
    {"bins?", "map",
     "Instead of bars: edges, for each slot the busy share and the share of others of each bin, and how many "
     "trials ran in each bin."},
};
constexpr Field column_field_fields[] = {
    {"name", "text"},
    {"type", "f64|i64|u32|u16|u8"},
    {"words?", "[any]", "What the numbers of this column stand for, by number."},
};
constexpr Field compared_length_fields[] = {{"length", "count"}, {"results", "integer", "Finite ones."}};
constexpr Field columns_fields[] = {
    {"lsn", "integer", "All rows are as they were after this event."},
    {"rows", "integer"},
    {"total", "integer", "Trials of the experiment."},
    {"length", "count?", "Where `result` was measured."},
    {"lengths", "[ComparedLength]", "Others that `length` can ask for: the rungs."},
    {"fields", "[ColumnField]"},
    {"columns", "[[any]]", "Of each field, a number or null for each row."},
};

constexpr Field curve_event_fields[] = {
    {"step", "count"}, {"time", "number"}, {"what", "promoted|paused|stopped|restarted|finished"}};
constexpr Field curve_fields[] = {
    {"trial", "integer"},
    {"rung", "integer?", "The longest that it reached, from 0."},
    {"state", "text"},
    {"step", "[count]", "Of each part of the curve, its last value's."},
    {"time", "[number]"},
    {"min", "[number]"},
    {"max", "[number]"},
    {"last", "[number]"},
    {"nonfinite", "[any]", "Pairs of a step and nan, inf or -inf."},
    {"events", "[CurveEvent]"},
};
constexpr Field rung_line_fields[] = {
    {"bracket", "integer"}, {"rung", "integer"}, {"length", "count"}, {"cut_off", "number?"}};
constexpr Field curves_fields[] = {
    {"metric", "text"},
    {"group?", "text"},
    {"unit?", "text"},
    {"lsn?", "integer"},
    {"trials?", "any", "A list of Curve; in a density, how many trials reported the metric."},
    {"rungs?", "[RungLine]"},
    {"steps?", "[integer]", "Of a density: edges."},
    {"values?", "[number]", "Of a density: edges."},
    {"counts?", "[[integer]]", "Of a density: for each part of the steps, how many values lie in each part."},
    {"below?", "integer", "Values below all edges."},
    {"above?", "integer"},
    {"nonfinite?", "integer"},
};
constexpr Field hparam_share_fields[] = {{"name", "text"},
                                         {"share", "number", "All shares add up to 1."},
                                         {"deviation", "number", "Between samples of the results."},
                                         {"rank", "integer", "From 1."}};
constexpr Field importance_fields[] = {
    {"metric", "text"},
    {"rung", "integer", "The rung whose results are compared, from 0."},
    {"length", "any"},
    {"results", "integer", "Finite ones."},
    {"others", "integer", "Trials that did not get there, or diverged: they count as worse."},
    {"needed", "integer", "With fewer results nothing is said."},
    {"gamma", "number", "The best part, which is compared with all."},
    {"method", "results|forest",
     "Compared are the results; or what a forest of regression trees expects evenly over the space, where a "
     "sampler "
     "that learns preferred a part of it."},
    {"hyperparameters", "[HparamShare]", "Largest share first."},
    {"reason", "text", "Why there are none."},
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

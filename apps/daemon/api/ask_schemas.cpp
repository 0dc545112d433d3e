#include "daemon/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

constexpr Field wanted_fields[] = {
    {"count?", "integer", "How many trials the client takes, at most 256; missing: 1."},
    {"lease_seconds?", "number", "A trial of which nothing is reported for this long is lost; missing: 300."},
};
constexpr Field asked_trial_fields[] = {
    {"trial", "integer", "Number of the trial."},
    {"attempt", "integer", "Number of the attempt."},
    {"lease", "text", "The lease, to be sent with each report."},
    {"lease_seconds", "number", "A trial of which nothing is reported for this long is lost."},
    {"hparams", "any", "Hyperparameters of the trial."},
    {"length", "integer", "Length to train to."},
    {"reached", "integer", "Highest step that earlier attempts of the trial reported."},
    {"seed", "integer", "Seed of the trial."},
    {"checkpoint", "text", "Checkpoint to begin with; \"\" if there is none."},
};
constexpr Field asked_fields[] = {
    {"experiment", "integer", "ID of the experiment."},
    {"state", "text", "State of the experiment; no more trials come when it has ended."},
    {"trials", "[AskedTrial]", "The trials that can start now; may be empty."},
};
constexpr Field metrics_fields[] = {
    {"lease", "text", "The lease of the trial."},
    {"step", "integer", "Length that the trial has trained in all."},
    {"metrics", "{metric}", "The measured metrics, by name."},
};
constexpr Field verdict_fields[] = {
    {"directive", "continue|pause|stop",
     "What the trial does next; after `pause` and `stop`, end the lease."},
    {"length", "integer", "With `continue`: the length to train to."},
};
constexpr Field end_fields[] = {
    {"lease", "text", "The lease of the trial."},
    {"state", "completed|failed|invalid_hyperparameters", "How the trial ended."},
    {"message?", "text?", "Why it ended so, for people."},
};
constexpr Field told_fields[] = {
    {"trial", "integer", "Number of the trial."},
    {"trial_state", "text", "State of the trial now."},
    {"state", "text", "State of the experiment now."},
};

constexpr Schema ask_table[] = {
    {"TrialsWanted", "How many trials a client takes.", wanted_fields, Schema::Kind::body},
    {"AskedTrial", "A trial that a client runs.", asked_trial_fields},
    {"AskedTrials", "Trials that a client runs.", asked_fields},
    {"MetricsOfLease", "What a client measured.", metrics_fields, Schema::Kind::body},
    {"TrialVerdict", "How a trial goes on.", verdict_fields},
    {"EndOfLease", "How a trial ended at its client.", end_fields, Schema::Kind::body},
    {"ToldTrial", "What became of a trial that ended at its client.", told_fields},
};

}  // namespace

std::span<const Schema> ask_schemas() noexcept {
  return ask_table;
}

}  // namespace hpsearch::daemon

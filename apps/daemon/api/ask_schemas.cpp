#include "daemon/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

constexpr Field wanted_fields[] = {
    {"count?", "integer", "At most 256; 1 if it is missing."},
    {"lease_seconds?", "number", "A trial of which nothing is reported for so long is lost; 300 if missing."},
};
constexpr Field asked_trial_fields[] = {
    {"trial", "integer"},
    {"attempt", "integer"},
    {"lease", "text", "To be sent with each report."},
    {"lease_seconds", "number"},
    {"hparams", "any"},
    {"length", "integer", "Train until this length."},
    {"reached", "integer", "What earlier attempts of the trial have reported."},
    {"seed", "integer"},
    {"checkpoint", "text", "That it begins with; empty if there is none."},
};
constexpr Field asked_fields[] = {
    {"experiment", "integer"},
    {"state", "text", "Of the experiment: nothing more comes when it has ended."},
    {"trials", "[AskedTrial]", "As many as can start now, which may be none."},
};
constexpr Field metrics_fields[] = {
    {"lease", "text"},
    {"step", "integer", "How long the trial has trained in all."},
    {"metrics", "{metric}"},
};
constexpr Field verdict_fields[] = {
    {"directive", "continue|pause|stop", "After pause and stop, end the lease."},
    {"length", "integer", "With continue: train until this length."},
};
constexpr Field end_fields[] = {
    {"lease", "text"},
    {"state", "completed|failed|invalid_hyperparameters"},
    {"message?", "text?", "Why."},
};
constexpr Field told_fields[] = {
    {"trial", "integer"},
    {"trial_state", "text"},
    {"state", "text", "Of the experiment."},
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

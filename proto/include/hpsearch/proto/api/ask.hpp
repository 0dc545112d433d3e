#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/api/field_types.hpp"

namespace hpsearch::api {

struct TrialsWanted {
  static constexpr Schema schema{"TrialsWanted", "How many trials a client takes.", Schema::Kind::body};
  std::optional<std::uint64_t> count{};
  std::optional<double> lease_seconds{};

  static void list_fields(auto& fields, auto& self) {
    fields.maybe("count", self.count, "How many trials the client takes, at most 256; missing: 1.");
    fields.maybe("lease_seconds", self.lease_seconds,
                 "A trial of which nothing is reported for this long is lost; missing: 300.");
  }
};

struct AskedTrial {
  static constexpr Schema schema{"AskedTrial", "A trial that a client runs."};
  engine::TrialNumber trial{};
  engine::AttemptNumber attempt{};
  std::string lease{};
  double lease_seconds = 0;
  engine::Value hparams{};
  std::uint64_t length = 0;
  std::uint64_t reached = 0;
  std::uint64_t seed = 0;
  std::string checkpoint{};

  static void list_fields(auto& fields, auto& self) {
    fields("trial", self.trial, "Number of the trial.");
    fields("attempt", self.attempt, "Number of the attempt.");
    fields("lease", self.lease, "The lease, to be sent with each report.");
    fields("lease_seconds", self.lease_seconds,
           "A trial of which nothing is reported for this long is lost.");
    fields("hparams", self.hparams, "Hyperparameters of the trial.");
    fields("length", self.length, "Length to train to.");
    fields("reached", self.reached, "Highest step that earlier attempts of the trial reported.");
    fields("seed", self.seed, "Seed of the trial.");
    fields("checkpoint", self.checkpoint, "Checkpoint to begin with; \"\" if there is none.");
  }
};

struct AskedTrials {
  static constexpr Schema schema{"AskedTrials", "Trials that a client runs."};
  engine::ExperimentId experiment{};
  engine::ExperimentState state{};
  std::vector<AskedTrial> trials{};

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment, "ID of the experiment.");
    fields("state", self.state, "State of the experiment; no more trials come when it has ended.");
    fields("trials", self.trials, "The trials that can start now; may be empty.");
  }
};

struct MetricsOfLease {
  static constexpr Schema schema{"MetricsOfLease", "What a client measured.", Schema::Kind::body};
  std::string lease{};
  std::uint64_t step = 0;
  std::map<std::string, Metric> metrics{};

  static void list_fields(auto& fields, auto& self) {
    fields("lease", self.lease, "The lease of the trial.");
    fields("step", self.step, "Length that the trial has trained in all.");
    fields("metrics", self.metrics, "The measured metrics, by name.");
  }
};

struct TrialVerdict {
  static constexpr Schema schema{"TrialVerdict", "How a trial goes on."};
  OneOf<"continue", "pause", "stop"> directive{};
  std::uint64_t length = 0;

  static void list_fields(auto& fields, auto& self) {
    fields("directive", self.directive, "What the trial does next; after `pause` and `stop`, end the lease.");
    fields("length", self.length, "With `continue`: the length to train to.");
  }
};

struct EndOfLease {
  static constexpr Schema schema{"EndOfLease", "How a trial ended at its client.", Schema::Kind::body};
  std::string lease{};
  OneOf<"completed", "failed", "invalid_hyperparameters"> state{};
  std::optional<std::optional<std::string>> message{};

  static void list_fields(auto& fields, auto& self) {
    fields("lease", self.lease, "The lease of the trial.");
    fields("state", self.state, "How the trial ended.");
    fields.maybe("message", self.message, "Why it ended so, for people.");
  }
};

struct EndedTrial {
  static constexpr Schema schema{"EndedTrial", "What became of a trial that ended at its client."};
  engine::TrialNumber trial{};
  engine::TrialState trial_state{};
  engine::ExperimentState state{};

  static void list_fields(auto& fields, auto& self) {
    fields("trial", self.trial, "Number of the trial.");
    fields("trial_state", self.trial_state, "State of the trial now.");
    fields("state", self.state, "State of the experiment now.");
  }
};

}  // namespace hpsearch::api

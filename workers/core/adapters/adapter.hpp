#pragma once

#include <span>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/jobs/launch/launch_spec.hpp"
#include "hpsearch/workers/core/launch/attempt_places.hpp"
#include "hpsearch/workers/core/launch/hyperparameter_forms.hpp"
#include "hpsearch/workers/core/launch/launch_environment.hpp"

namespace hpsearch::workers {

/// The inputs of a launch's plan.
struct LaunchFacts {
  const jobs::LaunchSpec& spec;
  const AttemptPlaces& places;
  const LentMachine& machine;
  const HyperparameterForms& forms;
  const engine::Value& hparams;  ///< A map, also for a trial without hyperparameters.
};

/// The support for programs of another platform. adapters() lists all of them.
struct Adapter {
  /// Adds the platform's variables, files and arguments to a launch, which has the entrypoint and hpsearch's
  /// own variables. An error names what this machine or this experiment lacks.
  engine::Status (*add)(const LaunchFacts& facts, Launch& launch);

  /// The variables that identify a program on the platform; a name that ends in _ is a prefix. Programs don't
  /// get the worker's own values of them.
  std::span<const std::string_view> identity = {};

  /// Whether the platform's own launcher starts the entrypoint, unchanged. The launch then has no argv
  /// until add() sets it. None: never.
  bool (*starts_entrypoint)(const jobs::LaunchSpec& spec) = nullptr;
};

}  // namespace hpsearch::workers

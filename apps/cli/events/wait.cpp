#include <chrono>
#include <optional>

#include "cli/client/answers.hpp"
#include "cli/client/interrupts.hpp"
#include "cli/client/which.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "cli/render/waiting_note.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/engine/experiment/experiment_state.hpp"
#include "hpsearch/proto/api/experiments.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// How long to wait for a daemon that restarts, so that its search is not given up.
constexpr std::chrono::seconds patience_with_silence{120};

/// A run restarts its daemon within this time after a crash.
constexpr std::chrono::seconds patience_with_restart{8};

}  // namespace

int wait(const WaitOptions& options, const Output& output) {
  const Outcome<ExperimentPlace> place =
      place_of(options.experiment.server, options.experiment.experiment, output);
  if (!place) {
    return output.fail(place.failure());
  }
  Outcome<Reached> reached =
      reach_experiment(place->server, place->experiment, Server::Need::readable, output);
  if (!reached) {
    return output.fail(reached.failure());
  }
  const std::string name = "experiment " + std::to_string(reached->experiment);
  const Interrupts interrupts;
  const auto begin = steady_clock::now();
  std::optional<steady_clock::time_point> silent_since;
  WaitingNote waiting;
  std::string printed_storage;
  while (interrupts.count() == 0) {
    const Outcome<Value> answer = reached->server.client().get(experiment_target(reached->experiment));
    const auto now = steady_clock::now();
    if (answer) {
      silent_since.reset();
      const auto experiment = read_as<api::ExperimentSummary>(*answer);
      if (!experiment) {
        return output.fail(experiment.failure());
      }
      const engine::ExperimentState state = experiment->state;
      const std::string state_name(engine::name_of(state));
      if (engine::is_ended(state)) {
        if (output.json()) {
          output.data(*answer);
        } else {
          output.print(name + " is " + state_name + " (trials: " + states_text(experiment->trials) + ")\n");
        }
        return static_cast<int>(state == engine::ExperimentState::completed ? Exit::ok
                                                                            : Exit::experiment_failed);
      }
      const std::string reason = printable(experiment->reason);
      if (state == engine::ExperimentState::paused && !reason.empty()) {
        const std::string continued = reached->server.is_ours() ? "hpsearch run FILE" : "hpsearch resume";
        return output.fail({Exit::experiment_failed, engine::Errc::wrong_state,
                            name + " paused itself: " + reason + "; continue it with " + continued});
      }
      if (reached->server.is_ours()) {
        return output.fail(conflict_failure(name + " is " + state_name +
                                            " and no daemon runs it; continue it with hpsearch run FILE"));
      }
      const std::string paused = state == engine::ExperimentState::paused ? "it is paused by a user" : "";
      if (const auto why = waiting.heard(paused.empty() ? experiment->waits_for.value_or("") : paused, now)) {
        output.message(name + ": " + *why);
      }
      if (const std::string storage = storage_trouble(reached->server.client()); storage != printed_storage) {
        printed_storage = storage;
        output.message(storage.empty() ? "the daemon's storage works again" : storage);
      }
    } else if (answer.failure().exit == Exit::storage) {
      silent_since.reset();  // The daemon waits for room on its disk, and then continues.
    } else if (answer.failure().exit != Exit::unreachable) {
      return output.fail(answer.failure());
    } else if (!silent_since) {
      silent_since = now;
    } else if (now - *silent_since > patience_with_silence) {
      return output.fail(answer.failure());
    } else if (place->server.state_dir && now - *silent_since > patience_with_restart) {
      // The run and its daemon have ended; the store shows how the search ended.
      reached = reach_experiment(place->server, place->experiment, Server::Need::readable, output);
      if (!reached) {
        return output.fail(reached.failure());
      }
      continue;
    }
    if (options.timeout_seconds &&
        std::chrono::duration<double>(now - begin).count() > *options.timeout_seconds) {
      return output.fail(
          plain_failure(name + " has not ended within " + duration_text(*options.timeout_seconds)));
    }
    nap(milliseconds(500));
  }
  return static_cast<int>(Exit::interrupted);
}

}  // namespace hpsearch::cli

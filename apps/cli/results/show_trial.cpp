#include "cli/results/show_trial.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/artifacts/log_source.hpp"
#include "cli/artifacts/log_view.hpp"
#include "cli/client/answers.hpp"
#include "cli/client/trial_pages.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/results/attempt_history.hpp"
#include "cli/results/attempt_use.hpp"
#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/proto/api/trials.hpp"
#include "hpsearch/proto/api/workers.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

constexpr std::size_t log_bytes = 64 * 1024;

/// The end of a failed attempt's log.
struct FailedLog {
  std::string from;  ///< "stderr", "stdout", or "" if only the part that came with its exit is available.
  std::string text;  ///< As people read it.
};

/// At most log_bytes of it, from the beginning of a line on.
std::string end_of(std::string text) {
  if (text.size() > log_bytes) {
    text.erase(0, text.size() - log_bytes);
    text.erase(0, text.find('\n') + 1);
  }
  LogView view;
  std::string lines = view.take(text);
  return lines + view.finish();
}

FailedLog failed_log(const Server& server, std::uint64_t experiment, std::uint64_t trial,
                     const AttemptHistory& attempt) {
  for (const char* stream : {"stderr", "stdout"}) {
    const LogStream whose{stream, 0, attempt.worker};
    const auto left = server.left_state();
    const Outcome<LogPart> part =
        left ? LeftLogs(*left, experiment, trial, whose).read(attempt.number, 0, true)
             : DaemonLogs(server.client(), experiment, trial, whose).read(attempt.number, 0, true);
    if (!part && !left) {
      break;  // Its worker is disconnected; another request would take as long.
    }
    if (part && part->text.find_first_not_of(" \t\r\n") != std::string::npos) {
      return {stream, end_of(part->text)};
    }
  }
  return {"", end_of(attempt.log_tail)};
}

struct WorkerName {
  std::string name;
  std::string device = "device";  ///< The word for one of its devices.
};

std::map<std::uint64_t, WorkerName> names_of_workers(const Client& client) {
  std::map<std::uint64_t, WorkerName> names;
  const auto add = [&names](const auto& workers) {
    for (std::size_t i = 0; workers && i < workers->size(); ++i) {
      const auto& worker = (*workers)[i];
      WorkerName& known = names[worker.id.number()];
      known.name = worker.name;
      if constexpr (requires { worker.slot_kind; }) {
        known.device = worker.slot_kind == "gpu" ? "GPU" : worker.slot_kind == "npu" ? "NPU" : "device";
      }
    }
  };
  add(every_entry(client, "/api/v1/workers", &api::WorkerPage::workers));
  add(every_entry(client, "/api/v1/workers/forgotten", &api::ForgottenWorkerPage::workers));
  return names;
}

/// The trial, its attempts and the log; JSON and text are made from them.
struct Shown {
  Value answer;  ///< The unchanged trial of the answer.
  api::Trial trial;
  std::string unit;
  std::vector<AttemptHistory> attempts;
  std::map<std::uint64_t, WorkerName> workers;
  /// By attempt and worker.
  std::map<std::pair<std::uint64_t, std::uint64_t>, AttemptUse> uses;
  const AttemptHistory* failed = nullptr;  ///< The last attempt that failed.
  FailedLog log;

  [[nodiscard]] std::string name_of(std::uint64_t worker) const {
    const auto found = workers.find(worker);
    return found == workers.end() ? std::to_string(worker) : found->second.name;
  }
  [[nodiscard]] std::string workers_of(const AttemptHistory& attempt) const {
    std::string names;
    for (const std::uint64_t worker : attempt.workers) {
      names += (names.empty() ? "" : ", ") + name_of(worker);
    }
    return names;
  }
};

Value json_of(const Shown& shown) {
  Value value = shown.answer;
  Value::List attempts;
  for (const AttemptHistory& attempt : shown.attempts) {
    Value::List workers;
    Value::List uses;
    for (const std::uint64_t worker : attempt.workers) {
      workers.emplace_back(shown.name_of(worker));
      if (const auto use = shown.uses.find({attempt.number, worker}); use != shown.uses.end()) {
        Value::Map value = use_value(use->second);
        value["worker"] = shown.name_of(worker);
        uses.emplace_back(std::move(value));
      }
    }
    attempts.push_back(Value::Map{{"attempt", static_cast<std::int64_t>(attempt.number)},
                                  {"worker", shown.name_of(attempt.worker)},
                                  {"workers", std::move(workers)},
                                  {"granted_at", attempt.granted_at},
                                  {"ended_at", attempt.ended_at > 0 ? Value(attempt.ended_at) : Value{}},
                                  {"cause", attempt.cause},
                                  {"message", attempt.message},
                                  {"failed", attempt.failed},
                                  {"utilization", std::move(uses)}});
  }
  Value::Map& map = *value.as_map();
  map["attempts_made"] = std::move(attempts);
  map["failed_log"] = shown.failed == nullptr
                          ? Value{}
                          : Value(Value::Map{{"attempt", static_cast<std::int64_t>(shown.failed->number)},
                                             {"stream", shown.log.from},
                                             {"text", shown.log.text}});
  return value;
}

std::string best_text(const api::Trial& trial, const std::string& unit) {
  return trial.best_metric && trial.best_step
             ? metric_text(*trial.best_metric) + " at " + engine::amount(*trial.best_step, unit)
             : "";
}

std::string attempts_text(const Shown& shown, const Output& output) {
  Table table({{"ATTEMPT", Table::Align::right}, {"WORKER"}, {"BEGAN"}, {"ENDED"}, {"CAUSE"}, {"MESSAGE"}});
  for (const AttemptHistory& attempt : shown.attempts) {
    table.add({std::to_string(attempt.number), shown.workers_of(attempt), time_text(attempt.granted_at),
               time_text(attempt.ended_at), attempt.cause.empty() ? "running" : attempt.cause,
               attempt.message});
  }
  return table.empty() ? "" : "\n" + table.text(output.width());
}

std::string uses_text(const Shown& shown) {
  std::string text;
  for (const auto& [whose, use] : shown.uses) {
    const auto& [attempt, worker] = whose;
    const auto known = shown.workers.find(worker);
    const std::string used =
        use_text(use, known == shown.workers.end() ? WorkerName().device : known->second.device);
    if (!used.empty()) {
      text += "attempt " + std::to_string(attempt) + " on " + printable(shown.name_of(worker)) + " used " +
              used + "\n";
    }
  }
  return text.empty() ? "" : "\n" + text;
}

std::map<std::pair<std::uint64_t, std::uint64_t>, AttemptUse> uses_of(
    const Server& server, std::uint64_t experiment, std::uint64_t trial,
    const std::vector<AttemptHistory>& attempts) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, AttemptUse> uses;
  std::set<std::uint64_t> away;  // Another request would take as long.
  for (const AttemptHistory& attempt : attempts) {
    for (const std::uint64_t worker : attempt.workers) {
      if (away.contains(worker)) {
        continue;
      }
      const auto columns = read_utilization(server, experiment, trial, attempt.number, worker);
      if (!columns) {
        away.insert(worker);
      } else if (const auto use = use_in(*columns)) {
        uses.emplace(std::pair(attempt.number, worker), *use);
      }
    }
  }
  return uses;
}

std::string text_of(const Shown& shown, std::uint64_t experiment, const Output& output) {
  const api::Trial& trial = shown.trial;
  std::string out;
  const auto line = [&out](const std::string& name, const std::string& text) {
    if (!text.empty()) {
      out += name + std::string(name.size() < 17 ? 17 - name.size() : 1, ' ') + text + "\n";
    }
  };
  line("trial", std::to_string(trial.trial.number()) + " of experiment " + std::to_string(experiment) +
                    ", id " + std::to_string(trial.id.number()));
  const std::string reason = printable(trial.reason.text);
  line("state", output.paint_state(engine::name_of(trial.state)) + (reason.empty() ? "" : ": " + reason));
  line("hyperparameters", printable(flat_text(trial.hparams)));
  line("trained", std::to_string(engine::count(trial.reached)) + " of " +
                      std::to_string(engine::count(trial.length)) + " " + shown.unit +
                      (trial.trained > trial.reached
                           ? ", " + std::to_string(engine::count(trial.trained)) + " by all attempts together"
                           : ""));
  line("best", best_text(trial, shown.unit));
  const TakenCheckpoint checkpoint = checkpoint_of(trial);
  line("checkpoint",
       printable(checkpoint.path) + (checkpoint.measured.empty() ? "" : " (" + checkpoint.measured + ")"));
  line("slot time", slot_time_text(trial.slot_seconds, trial.ran_unlogged));
  if (trial.starred || !trial.labels.empty() || !trial.note.empty()) {
    line("annotation", annotation_text(trial.starred, trial.labels, trial.note));
  }
  out += attempts_text(shown, output) + uses_text(shown);
  if (shown.failed != nullptr) {
    const bool kept = !shown.log.from.empty();
    out += "\nattempt " + std::to_string(shown.failed->number) + " on " +
           printable(shown.name_of(shown.failed->worker)) + ": " + shown.failed->cause + "; " +
           (shown.log.text.empty() ? "it wrote nothing\n"
                                   : (kept ? "the end of its " + shown.log.from
                                           : std::string("its worker is away; what came with its exit")) +
                                         ":\n" + shown.log.text);
  }
  return out;
}

}  // namespace

int show_trial(const Server& server, std::uint64_t experiment, std::uint64_t trial, const Output& output) {
  const Client& client = server.client();
  const std::string target = experiment_target(experiment, "/trials/" + std::to_string(trial));
  const Outcome<Value> found = client.get(target);
  const auto read = read_as<api::Trial>(found);
  const auto explained = read ? read_as<api::Explanation>(client.get(target + "/explain"))
                              : Outcome<api::Explanation>(read.failure());
  if (!explained) {
    return output.fail(explained.failure());
  }
  Value::List history;
  for (const api::Event& event : explained->history) {
    history.push_back(event.value);
  }
  const Outcome<Value::List> measured =
      metrics_of_trial([&client](const std::string& page) { return client.get(page); }, experiment, trial);
  if (!measured) {
    return output.fail(measured.failure());
  }
  Shown shown;
  shown.answer = *found;
  shown.trial = *read;
  shown.unit = printable(explained->unit);
  shown.attempts = attempts_in(history, *measured, explained->metric);
  shown.workers = names_of_workers(client);
  shown.uses = uses_of(server, experiment, trial, shown.attempts);
  const auto failed = std::find_if(shown.attempts.rbegin(), shown.attempts.rend(),
                                   [](const AttemptHistory& attempt) { return attempt.failed; });
  if (failed != shown.attempts.rend()) {
    shown.failed = &*failed;
    shown.log = failed_log(server, experiment, trial, *failed);
  }
  if (output.json()) {
    output.data(json_of(shown));
  } else {
    output.sentences(text_of(shown, experiment, output));
  }
  return 0;
}

}  // namespace hpsearch::cli

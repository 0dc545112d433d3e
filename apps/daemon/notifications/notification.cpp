#include "daemon/notifications/notification.hpp"

#include <variant>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/experiment/best_trial.hpp"

namespace hpsearch::daemon {
namespace {

using engine::ExperimentRecord;

double seconds_of(engine::Instant at) {
  return static_cast<double>(at.micros()) / 1e6;
}

std::string id_of(std::uint64_t cluster, const std::string& rest) {
  return std::to_string(cluster) + "-" + rest;
}

/// Without occasion, id, time and sentence.
Notification about(const ExperimentRecord& record, const std::string& pages) {
  Notification one;
  one.experiment = record.id;
  one.name = record.config.name;
  one.workspace = record.config.workspace.empty() ? "default" : record.config.workspace;
  one.owner = record.owner;
  one.labels = record.annotation.labels;
  one.state = engine::name_of(record.state);
  if (!pages.empty()) {
    one.link = pages + "/experiments/" + std::to_string(record.id.number());
  }
  const auto best = engine::best_trial(record);
  if (best && record.trials[best->number()].best) {
    one.best_trial = *best;
    one.metric = record.config.searcher.metric;
    one.best_metric = record.trials[best->number()].best->metric;
  }
  return one;
}

std::string search_text(const Notification& one) {
  return "search \"" + one.name + "\" (experiment " + std::to_string(one.experiment->number()) + ")";
}

std::string best_text(const Notification& one) {
  return one.best_metric ? "best " + one.metric + " " + engine::short_number(*one.best_metric) + " (trial " +
                               std::to_string(one.best_trial->number()) + ")"
                         : "no result";
}

std::string ended_text(const Notification& one) {
  const std::string how = one.occasion == Occasion::failed ? "failed"
                          : one.state == "CANCELED"        ? "was canceled"
                                                           : "completed";
  return search_text(one) + " " + how + (one.reason.empty() ? "" : ": " + one.reason) + "; " + best_text(one);
}

const std::string& name_of_worker(const engine::Engine& engine, engine::WorkerId id) {
  static const std::string unknown = "?";
  if (const auto found = engine.workers().find(id); found != engine.workers().end()) {
    return found->second.name;
  }
  const auto forgotten = engine.forgotten_workers().find(id);
  return forgotten == engine.forgotten_workers().end() ? unknown : forgotten->second.name;
}

}  // namespace

bool is_worth_notifying(const engine::Event& event) noexcept {
  const auto* paused = std::get_if<engine::ExperimentPaused>(&event.body);
  // A worker that says goodbye is "lost" too, to the engine: at the end of its allocation, or when it is
  // idle.
  const auto* lost = std::get_if<engine::WorkerLost>(&event.body);
  return std::holds_alternative<engine::ExperimentEnded>(event.body) || (lost != nullptr && lost->silent) ||
         (paused != nullptr && !paused->reason.empty());
}

std::optional<Notification> notification_of(const engine::Event& event, const engine::Engine& engine,
                                            std::uint64_t cluster, const std::string& pages) {
  if (!is_worth_notifying(event)) {
    return {};
  }
  Notification one;
  if (const auto* lost = std::get_if<engine::WorkerLost>(&event.body)) {
    one.occasion = Occasion::worker_lost;
    one.name = name_of_worker(engine, lost->worker);
    one.reason = lost->why;
    one.link = pages.empty() ? "" : pages + "/workers";
    one.text = "worker \"" + one.name + "\" is lost" + (one.reason.empty() ? "" : ": " + one.reason);
  } else if (const auto* ended = std::get_if<engine::ExperimentEnded>(&event.body)) {
    const ExperimentRecord* record = engine.find(ended->experiment);
    if (record == nullptr) {
      return {};
    }
    one = about(*record, pages);
    one.occasion = ended->state == engine::ExperimentState::failed ? Occasion::failed : Occasion::ended;
    one.state = engine::name_of(ended->state);
    one.reason = ended->reason;
    one.text = ended_text(one);
  } else {
    const auto& paused = std::get<engine::ExperimentPaused>(event.body);
    const ExperimentRecord* record = engine.find(paused.experiment);
    if (record == nullptr) {
      return {};
    }
    one = about(*record, pages);
    one.occasion = Occasion::paused;
    one.state = engine::name_of(engine::ExperimentState::paused);
    one.reason = paused.reason;
    one.text = search_text(one) + " paused itself: " + paused.reason;
  }
  one.at = seconds_of(event.at);
  one.id = id_of(cluster, std::to_string(event.lsn.number()));
  return one;
}

std::optional<Notification> notification_of_best(const ExperimentRecord& record, engine::Instant now,
                                                 std::uint64_t cluster, const std::string& pages) {
  Notification one = about(record, pages);
  if (!one.best_metric) {
    return {};
  }
  one.occasion = Occasion::new_best;
  one.at = seconds_of(now);
  one.text = search_text(one) + " has a new best: " + one.metric + " " +
             engine::short_number(*one.best_metric) + " (trial " + std::to_string(one.best_trial->number()) +
             ")";
  one.id = id_of(cluster, "best-" + std::to_string(record.id.number()) + "-" +
                              std::to_string(one.best_trial->number()) + "-" +
                              engine::python_float(*one.best_metric));
  return one;
}

}  // namespace hpsearch::daemon

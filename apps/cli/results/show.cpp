#include "cli/client/answers.hpp"
#include "cli/client/which.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/render/waiting_note.hpp"
#include "cli/results/finalists.hpp"
#include "cli/results/show_trial.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

/// The identity of the submitted directory: the beginning of a long digest distinguishes it well enough.
std::string context_identity(const api::Experiment& detail) {
  return detail.context_digest.empty()
             ? ""
             : " (sha256 " + printable(detail.context_digest.substr(0, 12)) + ", " +
                   engine::short_number(static_cast<double>(detail.context_bytes)) + " bytes)";
}

std::string show_text(const api::Experiment& detail, const Output& output) {
  const std::string unit = printable(detail.unit);
  std::string out;
  const auto line = [&out](const std::string& name, const std::string& text) {
    if (!text.empty()) {
      out += name + std::string(name.size() < 13 ? 13 - name.size() : 1, ' ') + text + "\n";
    }
  };
  line("experiment", std::to_string(detail.id.number()) + ", " + printable(detail.name));
  const std::string reason = printable(detail.reason);
  line("state", output.paint_state(engine::name_of(detail.state)) + (reason.empty() ? "" : ": " + reason));
  line("searcher", printable(detail.searcher) + ", by " + printable(detail.metric) +
                       (detail.smaller_is_better ? " (smaller is better)" : " (larger is better)"));
  line("progress", percent_text(detail.progress.value_or(0)));
  line("trials", states_text(detail.trials));
  if (const std::string failures = failures_text(detail); !failures.empty()) {
    line("failures", output.paint(Output::Color::red, failures));
  }
  if (detail.best) {
    line("best", metric_text(detail.best->metric) + ", trial " + std::to_string(detail.best->trial.number()) +
                     " at " + engine::amount(detail.best->step, unit));
  }
  for (const std::string& finalist : finalist_lines(detail.finalists)) {
    line(finalist.starts_with("1. ") ? "finalists" : "", finalist);
  }
  line("training", training_text(detail));
  line("slot time", slot_time_text(detail.slot_seconds, detail.ran_unlogged));
  if (detail.source) {
    line("begins from", source_text(*detail.source));
  }
  if (detail.starred || !detail.labels.empty() || !detail.note.empty()) {
    line("annotation", annotation_text(detail.starred, detail.labels, detail.note));
  }
  line("context", printable(detail.context_directory) + context_identity(detail));
  if (detail.git) {
    line("program", git_text(*detail.git));
  }
  line("waits", printable(detail.waits_for.value_or("")));
  line("created", time_text(detail.created_at));
  line("ended", time_text(detail.ended_at.value_or(0)));
  for (const std::string& doubt : detail.doubts) {
    line("note", printable(doubt));
  }
  for (const api::Note& note : detail.notes) {
    line("note",
         "trial " + std::to_string(note.trial.number()) + ": " + printable(note.text) +
             (note.attempts > 1 ? " (and " + std::to_string(note.attempts - 1) + " more attempts)" : ""));
  }
  Table rungs({{"LENGTH", Table::Align::right}, {"REACHED BY", Table::Align::right}});
  for (const api::ReachedLength& rung : detail.rungs) {
    rungs.add({std::to_string(engine::count(rung.length)), std::to_string(rung.reached)});
  }
  if (!rungs.empty()) {
    out += "\n" + rungs.text();
  }
  return out;
}

}  // namespace

int show(const ShowOptions& given, const Output& output) {
  const ExperimentOptions& options = given.experiment;
  const Outcome<Reached> reached =
      reach_experiment(options.server, options.experiment, Server::Need::readable, output);
  if (!reached) {
    return output.fail(reached.failure());
  }
  if (given.trial) {
    return show_trial(reached->server, reached->experiment, *given.trial, output);
  }
  const Outcome<Value> answer = reached->server.client().get(experiment_target(reached->experiment));
  return show_answer<api::Experiment>(answer, output, [&](const api::Experiment& detail) {
    output.sentences(show_text(detail, output));
    if (const std::string storage = storage_trouble(reached->server.client()); !storage.empty()) {
      output.sentences("\n" + storage + "\n");
    }
  });
}

}  // namespace hpsearch::cli

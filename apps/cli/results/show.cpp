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

/// What the directory held when it was submitted: begins of long digests are told apart well enough.
std::string context_identity(const Value& detail) {
  const std::string digest = text_at(detail, "context_digest");
  return digest.empty()
             ? ""
             : " (sha256 " + printable(digest.substr(0, 12)) + ", " +
                   engine::short_number(static_cast<double>(count_at(detail, "context_bytes"))) + " bytes)";
}

std::string show_text(const Value& detail, const Output& output) {
  const std::string unit = printable(text_at(detail, "unit"));
  std::string out;
  const auto line = [&out](const std::string& name, const std::string& text) {
    if (!text.empty()) {
      out += name + std::string(name.size() < 13 ? 13 - name.size() : 1, ' ') + text + "\n";
    }
  };
  line("experiment", std::to_string(count_at(detail, "id")) + ", " + printable(text_at(detail, "name")));
  const std::string reason = printable(text_at(detail, "reason"));
  line("state", output.paint_state(text_at(detail, "state")) + (reason.empty() ? "" : ": " + reason));
  line("searcher", printable(text_at(detail, "searcher")) + ", by " + printable(text_at(detail, "metric")) +
                       (member(detail, "smaller_is_better") == Value(true) ? " (smaller is better)"
                                                                           : " (larger is better)"));
  line("progress", percent_text(number_at(detail, "progress")));
  line("trials", states_text(member(detail, "trials")));
  if (const Value& best = member(detail, "best"); !best.is_null()) {
    line("best", metric_or_dash(member(best, "metric")) + ", trial " +
                     std::to_string(count_at(best, "trial")) + " at " +
                     engine::amount(engine::Units{count_at(best, "step")}, unit));
  }
  for (const std::string& finalist : finalist_lines(list_at(detail, "finalists"))) {
    line(finalist.starts_with("1. ") ? "finalists" : "", finalist);
  }
  line("training", training_text(detail));
  line("slot time", slot_time_text(detail));
  if (const Value& source = member(detail, "source"); !source.is_null()) {
    line("begins from", source_text(source));
  }
  line("context", printable(text_at(detail, "context_directory")) + context_identity(detail));
  line("waits", printable(text_at(detail, "waits_for")));
  line("created", time_text(number_at(detail, "created_at")));
  line("ended", time_text(number_at(detail, "ended_at")));
  for (const Value& doubt : list_at(detail, "doubts")) {
    line("note", printable(doubt.as_text() != nullptr ? *doubt.as_text() : std::string()));
  }
  for (const Value& note : list_at(detail, "notes")) {
    const std::uint64_t attempts = count_at(note, "attempts");
    line("note", "trial " + std::to_string(count_at(note, "trial")) + ": " +
                     printable(text_at(note, "text")) +
                     (attempts > 1 ? " (and " + std::to_string(attempts - 1) + " more attempts)" : ""));
  }
  Table rungs({{"LENGTH", Table::Align::right}, {"REACHED BY", Table::Align::right}});
  for (const Value& rung : list_at(detail, "rungs")) {
    rungs.add({std::to_string(count_at(rung, "length")), std::to_string(count_at(rung, "reached"))});
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
  if (!answer) {
    return output.fail(answer.failure());
  }
  if (output.json()) {
    output.data(*answer);
  } else {
    output.print(show_text(*answer, output));
    if (const std::string storage = storage_trouble(reached->server.client()); !storage.empty()) {
      output.print("\n" + storage + "\n");
    }
  }
  return 0;
}

}  // namespace hpsearch::cli

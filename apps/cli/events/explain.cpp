#include <string>

#include "cli/client/answers.hpp"
#include "cli/client/which.hpp"
#include "cli/events/event_line.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/proto/api/trials.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

/// The program that the trial runs; "" if there was only one.
std::string program_text(const api::Explanation& explanation) {
  if (explanation.program_changes == 0) {
    return "";
  }
  if (!explanation.program) {
    return "it keeps the program that the experiment was submitted with";
  }
  std::string files;
  const api::ProgramChange& program = *explanation.program;
  for (const std::string& file : program.changed) {
    files += (files.empty() ? "" : ", ") + printable(file);
  }
  const std::string at = clock_text(program.at, seconds_now());
  return program.context_digest.empty()
             ? "attempts that started after " + at + " run the changed program" +
                   (files.empty() ? "" : ": " + files)
             : "it runs the program of " + at + (files.empty() ? "" : ": " + files + " changed");
}

std::string explanation_text(const api::Explanation& explanation, const Output& output) {
  std::string text = "trial " + std::to_string(explanation.trial.number()) + " of experiment " +
                     std::to_string(explanation.experiment.number()) + " is " +
                     output.paint_state(engine::name_of(explanation.state)) + "\n";
  if (explanation.source) {
    text += "  it begins from " + source_text(*explanation.source) + "\n";
  }
  if (const std::string program = program_text(explanation); !program.empty()) {
    text += "  " + program + "\n";
  }
  sentences::EventStory story(explanation.unit, explanation.metric);
  for (const api::Event& event : explanation.history) {
    if (const auto line = event_line(story, event.value); !line.text.empty()) {
      text += "  " + line.text + "\n";
    }
  }
  text += "now: " + printable(explanation.now) + "\n";
  if (const std::string next = printable(explanation.next); !next.empty()) {
    text += "next: " + next + "\n";
  }
  return text;
}

}  // namespace

int explain(const ExplainOptions& options, const Output& output) {
  if (options.which.size() == 2 && options.which.front() == "queue") {
    AllocOptions queue;
    queue.queue = options.which.back();
    queue.server = options.server;
    return alloc("explain", queue, output);
  }
  const Outcome<Which> which = read_which(options.which, About::trial);
  if (!which) {
    return output.fail(which.failure());
  }
  const Outcome<Reached> reached =
      reach_experiment(options.server, which->experiment, Server::Need::readable, output);
  if (!reached) {
    return output.fail(reached.failure());
  }
  const Outcome<Value> answer = reached->server.client().get(
      experiment_target(reached->experiment, "/trials/" + std::to_string(*which->trial) + "/explain"));
  return show_answer<api::Explanation>(answer, output, [&](const api::Explanation& explanation) {
    output.sentences(explanation_text(explanation, output));
  });
}

}  // namespace hpsearch::cli

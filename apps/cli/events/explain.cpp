#include <string>

#include "cli/client/which.hpp"
#include "cli/events/event_line.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

/// Which program the trial runs; "" if there was only one.
std::string program_text(const Value& explanation) {
  if (count_at(explanation, "program_changes") == 0) {
    return "";
  }
  const Value& program = member(explanation, "program");
  if (program.is_null()) {
    return "it keeps the program that the experiment was submitted with";
  }
  std::string files;
  for (const Value& file : list_at(program, "changed")) {
    files += (files.empty() ? "" : ", ") + printable(file.as_text() != nullptr ? *file.as_text() : "");
  }
  const std::string at = clock_text(number_at(program, "at"), seconds_now());
  return text_at(program, "context_digest").empty()
             ? "attempts that started after " + at + " run the changed program" +
                   (files.empty() ? "" : ": " + files)
             : "it runs the program of " + at + (files.empty() ? "" : ": " + files + " changed");
}

std::string explanation_text(const Value& explanation, const Output& output) {
  std::string text = "trial " + std::to_string(count_at(explanation, "trial")) + " of experiment " +
                     std::to_string(count_at(explanation, "experiment")) + " is " +
                     output.paint_state(text_at(explanation, "state")) + "\n";
  if (const Value& source = member(explanation, "source"); !source.is_null()) {
    text += "  it begins from " + source_text(source) + "\n";
  }
  if (const std::string program = program_text(explanation); !program.empty()) {
    text += "  " + program + "\n";
  }
  sentences::EventStory story(text_at(explanation, "unit"), text_at(explanation, "metric"));
  for (const Value& event : list_at(explanation, "history")) {
    if (const auto line = event_line(story, event); !line.text.empty()) {
      text += "  " + line.text + "\n";
    }
  }
  text += "now: " + printable(text_at(explanation, "now")) + "\n";
  if (const std::string next = printable(text_at(explanation, "next")); !next.empty()) {
    text += "next: " + next + "\n";
  }
  return text;
}

}  // namespace

int explain(const ExplainOptions& options, const Output& output) {
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
  if (!answer) {
    return output.fail(answer.failure());
  }
  if (output.json()) {
    output.data(*answer);
  } else {
    output.print(explanation_text(*answer, output));
  }
  return 0;
}

}  // namespace hpsearch::cli

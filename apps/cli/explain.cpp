#include "cli/event_line.hpp"
#include "cli/server.hpp"
#include "cli/shapes.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

std::string explanation_text(const Value& explanation, const Output& output) {
  std::string text = "trial " + std::to_string(count_at(explanation, "trial")) + " of experiment " +
                     std::to_string(count_at(explanation, "experiment")) + " is " +
                     output.paint_state(text_at(explanation, "state")) + "\n";
  if (const Value& source = member(explanation, "source"); !source.is_null()) {
    text += "  it begins from " + source_text(source) + "\n";
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
  const Outcome<std::uint64_t> trial = read_number(options.which.back(), "trial");
  if (!trial) {
    return output.fail(trial.failure());
  }
  const Outcome<Server> server = Server::reach(options.server, Server::Need::readable, output);
  if (!server) {
    return output.fail(server.failure());
  }
  std::optional<std::string> named;
  if (options.which.size() == 2) {
    named = options.which.front();
  }
  const Outcome<std::uint64_t> experiment = server->experiment(named);
  if (!experiment) {
    return output.fail(experiment.failure());
  }
  const Outcome<Value> answer =
      server->client().get(experiment_target(*experiment, "/trials/" + std::to_string(*trial) + "/explain"));
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

#include "cli/server.hpp"
#include "cli/shapes.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "cli/waiting_note.hpp"

namespace hpsearch::cli {

using engine::Value;

int list(const ServerOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach(options, Server::Need::readable, output);
  if (!server) {
    return output.fail(server.failure());
  }
  const Outcome<Value> answer = server->client().get_list("/api/v1/experiments", "experiments");
  if (!answer) {
    return output.fail(answer.failure());
  }
  if (output.json()) {
    output.data(*answer);
    return 0;
  }
  using Align = Table::Align;
  Table table({{"ID", Align::right},
               {"STATE"},
               {"PROGRESS", Align::right},
               {"BEST", Align::right},
               {"CREATED"},
               {"NAME"},
               {"TRIALS"}});
  for (const Value& experiment : list_at(*answer, "experiments")) {
    table.add({std::to_string(count_at(experiment, "id")), text_at(experiment, "state"),
               percent_text(number_at(experiment, "progress")),
               metric_or_dash(member(member(experiment, "best"), "metric")),
               time_text(number_at(experiment, "created_at")), text_at(experiment, "name"),
               states_text(member(experiment, "trials"))});
  }
  std::string notes;
  for (const Value& experiment : list_at(*answer, "experiments")) {
    const std::string name = "experiment " + std::to_string(count_at(experiment, "id"));
    const std::string reason = printable(text_at(experiment, "reason"));
    // A search whose daemon was started for this command waits for nothing: it does not run.
    const std::string waits = server->is_ours() ? "" : printable(text_at(experiment, "waits_for"));
    notes += waits.empty() ? "" : name + " waits: " + waits + "\n";
    notes += text_at(experiment, "state") == "PAUSED" && !reason.empty()
                 ? name + " paused itself: " + reason + "\n"
                 : "";
  }
  if (const std::string storage = storage_trouble(server->client()); !storage.empty()) {
    notes += storage + "\n";
  }
  output.print(table.empty() ? std::string("no experiments yet\n") : table.text(output.width()));
  output.print(notes);
  return 0;
}

}  // namespace hpsearch::cli

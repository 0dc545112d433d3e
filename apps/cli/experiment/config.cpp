#include <algorithm>
#include <string>
#include <string_view>

#include "cli/client/answers.hpp"
#include "cli/client/which.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/proto/api/experiments.hpp"

namespace hpsearch::cli {

using engine::Value;

namespace {

/// Byte by byte as its user wrote it; on a terminal without characters that would control it.
std::string shown(const std::string& text, bool on_a_terminal) {
  if (!on_a_terminal) {
    return text;
  }
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\t\n", at), text.size());
    out += printable(std::string_view(text).substr(at, end - at)) + text.substr(end, 1);
    at = end + 1;
  }
  return out;
}

}  // namespace

int config(const ConfigOptions& given, const Output& output) {
  const ExperimentOptions& options = given.experiment;
  const Outcome<Reached> reached =
      reach_experiment(options.server, options.experiment, Server::Need::readable, output);
  if (!reached) {
    return output.fail(reached.failure());
  }
  const Client& client = reached->server.client();
  if (given.as_written) {
    return show_answer<api::SubmittedFile>(
        client.get(experiment_target(reached->experiment, "/file")), output,
        [&output](const api::SubmittedFile& file) { output.print(shown(file.text, output.width() > 0)); });
  }
  const Outcome<Value> answer = client.get(experiment_target(reached->experiment, "/config"));
  if (!answer) {
    return output.fail(answer.failure());
  }
  if (output.json()) {
    output.data(*answer);
  } else {
    output.print(yaml_text(*answer));
  }
  return 0;
}

}  // namespace hpsearch::cli

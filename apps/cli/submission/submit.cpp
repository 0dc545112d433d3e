#include <utility>
#include <vector>

#include "cli/client/server.hpp"
#include "cli/experiment/file_report.hpp"
#include "cli/experiment/prior_results.hpp"
#include "cli/experiment/start_check.hpp"
#include "cli/render/text.hpp"
#include "cli/submission/context_report.hpp"
#include "cli/submission/context_upload.hpp"
#include "cli/submission/git_state.hpp"
#include "cli/submission/submission.hpp"
#include "cli/verbs/verbs.hpp"

namespace hpsearch::cli {

using engine::Value;

namespace {

void report_links(const std::vector<context::ContextFile>& files, const Output& output) {
  for (const context::ContextFile& file : files) {
    if (file.leads_out()) {
      output.message(printable(file.path + " is a link out of the context directory, to " + file.target +
                               ": the target must exist on every worker") +
                     " [note]");
    }
  }
}

/// Prints why none of its trials runs now. A missing answer is not a failure, since the experiment was
/// submitted.
void report_wait(const Client& client, std::uint64_t experiment, const Output& output) {
  const Outcome<Value> detail = client.get(experiment_target(experiment));
  if (const std::string why = detail ? text_at(*detail, "waits_for") : ""; !why.empty()) {
    output.message("no trial runs yet: " + printable(why) + " [note]");
  }
}

}  // namespace

int submit(const SubmitOptions& options, const Output& output) {
  ExperimentFile file = open_experiment_file(
      options.file.file, {options.file.seed, options.file.name, options.context_directory});
  if (!file.problems.empty()) {
    return report_problems(file, output);
  }
  const Outcome<std::string> context = context_directory(options.context_directory, options.file.file);
  if (!context) {
    return output.fail(context.failure());
  }
  read_prior(file, options.server, output);
  check_start(file, {.context = *context, .machine = StartPlace::Machine::worker});
  if (!file.problems.empty()) {
    return report_problems(file, output);
  }
  report_notes(file, output);
  const bool packed = needs_packed_context(file.tree);
  std::vector<context::ContextFile> files;
  if (packed) {
    auto found = look_at_context(*context, options.context_limit);
    if (!found) {
      return output.fail(found.failure());
    }
    for (const std::string& line : context_report(*found)) {
      output.message(printable(line) + " [note]");
    }
    files = std::move(found->files);
    report_links(files, output);
  }
  // A new experiment must never be submitted to a user's private search by accident.
  const Outcome<Server> server = Server::reach_shared(options.server, output);
  if (!server) {
    return output.fail(server.failure());
  }
  std::string digest;
  if (packed) {
    const Outcome<std::string> uploaded = upload_context(server->client(), *context, files);
    if (!uploaded) {
      return output.fail(uploaded.failure());
    }
    digest = *uploaded;
  }
  const Outcome<Submitted> submitted =
      submit_experiment(server->client(), file, {*context, digest, git_state(*context)}, fresh_key());
  if (!submitted) {
    return output.fail(submitted.failure());
  }
  if (!submitted->note.empty()) {
    output.message(printable(submitted->note) + " [note]");
  }
  report_wait(server->client(), submitted->experiment, output);
  if (output.json()) {
    output.data(Value::Map{{"experiment", static_cast<std::int64_t>(submitted->experiment)}});
  } else {
    output.print("experiment " + std::to_string(submitted->experiment) + "\n");
  }
  return 0;
}

}  // namespace hpsearch::cli

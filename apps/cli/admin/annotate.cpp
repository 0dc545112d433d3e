#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/client/answers.hpp"
#include "cli/client/last_summary.hpp"
#include "cli/client/which.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::cli {

using engine::Value;

namespace {

/// The labels that it has now, with the given ones and without the others.
Value::List changed_labels(std::vector<std::string> labels, const AnnotateOptions& options) {
  for (const std::string& removed : options.removed_labels) {
    std::erase(labels, removed);
  }
  labels.insert(labels.end(), options.labels.begin(), options.labels.end());
  return Value::List(labels.begin(), labels.end());
}

/// Changes it, if a change is asked for, and prints it. `What` is api::ExperimentSummary or api::Trial.
template <class What>
int annotate_one(const Client& client, const std::string& target, const std::string& what,
                 const AnnotateOptions& options, const Output& output) {
  const auto now = read_as<What>(client.get(target));
  if (!now) {
    return output.fail(now.failure());
  }
  Value::Map change;
  if (options.note) {
    change["note"] = *options.note;
  }
  if (options.star || options.no_star) {
    change["starred"] = options.star;
  }
  if (!options.labels.empty() || !options.removed_labels.empty()) {
    change["labels"] = changed_labels(now->labels, options);
  }
  const auto print = [&](const api::Annotation& shown) {
    output.print(what + ": " + annotation_text(shown.starred, shown.labels, shown.note) + "\n");
  };
  const api::Annotation before{now->note, now->labels, now->starred};
  return show_answer<api::Annotation>(change.empty()
                                          ? Outcome<Value>(proto::encode_value(before))
                                          : client.patch(target + "/annotation", Value(std::move(change))),
                                      output, print);
}

}  // namespace

int annotate(const AnnotateOptions& options, const Output& output) {
  const Outcome<Reached> reached = reach_experiment(options.experiment.server, options.experiment.experiment,
                                                    Server::Need::readable, output);
  if (!reached) {
    return output.fail(reached.failure());
  }
  if (const auto& state = reached->server.run_state()) {
    forget_last_summary(*state);
  }
  const Client& client = reached->server.client();
  const std::string experiment = "experiment " + std::to_string(reached->experiment);
  const std::string target = experiment_target(reached->experiment);
  if (options.trial) {
    const std::string trial = std::to_string(*options.trial);
    return annotate_one<api::Trial>(client, target + "/trials/" + trial,
                                    "trial " + trial + " of " + experiment, options, output);
  }
  return annotate_one<api::ExperimentSummary>(client, target, experiment, options, output);
}

}  // namespace hpsearch::cli

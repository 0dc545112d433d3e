#include <string>

#include "cli/client/which.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/proto/sentences/uncertain_number.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;
using sentences::fixed;

std::string importance_table(const Value& learnt) {
  Table table({{"HYPERPARAMETER", Table::Align::left, true},
               {"IMPORTANCE", Table::Align::right},
               {"LENGTH SCALE", Table::Align::right}});
  for (const Value& one : list_at(learnt, "hyperparameters")) {
    table.add({text_at(one, "name"), fixed(100 * number_at(one, "share"), 0) + " %",
               fixed(number_at(one, "length_scale"), 2)});
  }
  return table.text();
}

std::string lengths_table(const Value& learnt) {
  Table table({{"LENGTH", Table::Align::right},
               {"RESULTS", Table::Align::right},
               {"CORRELATION", Table::Align::right}});
  for (const Value& one : list_at(learnt, "lengths")) {
    table.add({std::to_string(count_at(one, "length")), std::to_string(count_at(one, "results")),
               fixed(number_at(one, "correlation"), 2)});
  }
  return table.text();
}

std::string best_text(const Value& learnt) {
  const Value& best = member(learnt, "best");
  if (best.is_null()) {
    return "";
  }
  const Value& trial = member(best, "trial");
  return "\nexpected to be the best: " + printable(text_at(learnt, "metric")) + " " +
         sentences::with_deviation(number_at(best, "mean"), number_at(best, "deviation")) +
         " at full length; " +
         (trial.is_null() ? "no trial has tried it" : "trial " + std::to_string(count_at(best, "trial"))) +
         "\n" + yaml_text(member(best, "hparams"), 2);
}

std::string learnt_text(const Value& learnt) {
  const std::uint64_t results = count_at(learnt, "results");
  const std::uint64_t needed = count_at(learnt, "needed");
  if (results < needed) {
    return "the model has " + counted(results, "result") + " and needs " + std::to_string(needed) + ": " +
           std::to_string(needed - results) + (needed - results == 1 ? " is" : " are") + " missing\n";
  }
  if (list_at(learnt, "hyperparameters").empty()) {
    return "the model has learnt nothing from " + counted(results, "result") +
           ": no hyperparameter varies, or none of its numbers can be used\n";
  }
  return "learnt from " + counted(results, "result") + "\n\n" + importance_table(learnt) + "\n" +
         lengths_table(learnt) + best_text(learnt);
}

/// Why there is no model.
Outcome<std::string> without_model(const Reached& reached) {
  const Outcome<Value> config = reached.server.client().get(experiment_target(reached.experiment, "/config"));
  if (!config) {
    return config.failure();
  }
  const Value* sampler = config->at_path("searcher.sampler");
  const std::string name =
      sampler != nullptr && sampler->as_text() != nullptr ? *sampler->as_text() : "random";
  return "experiment " + std::to_string(reached.experiment) + " has no model: its searcher.sampler is " +
         printable(name) + "; of those of hpsearch, only model has one";
}

}  // namespace

int model(const ExperimentOptions& options, const Output& output) {
  const Outcome<Reached> reached =
      reach_experiment(options.server, options.experiment, Server::Need::readable, output);
  if (!reached) {
    return output.fail(reached.failure());
  }
  const Outcome<Value> learnt =
      reached->server.client().get(experiment_target(reached->experiment, "/model"));
  if (!learnt) {
    return output.fail(learnt.failure());
  }
  if (learnt->is_null()) {
    const Outcome<std::string> why = without_model(*reached);
    return output.fail(why ? usage_failure(*why) : why.failure());
  }
  if (output.json()) {
    output.data(*learnt);
  } else {
    output.print(learnt_text(*learnt));
  }
  return 0;
}

}  // namespace hpsearch::cli

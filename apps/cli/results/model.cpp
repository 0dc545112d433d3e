#include <string>
#include <utility>

#include "cli/client/answers.hpp"
#include "cli/client/which.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/proto/api/experiments.hpp"
#include "hpsearch/proto/sentences/uncertain_number.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;
using sentences::fixed;

std::string importance_table(const api::Model& learnt) {
  Table table({{"HYPERPARAMETER", Table::Align::left, true},
               {"IMPORTANCE", Table::Align::right},
               {"LENGTH SCALE", Table::Align::right},
               {""}});
  for (const api::ModelImportance& one : learnt.hyperparameters) {
    table.add({one.name, fixed(100 * one.share, 0) + " %", fixed(one.length_scale, 2), share_bar(one.share)});
  }
  return table.text();
}

std::string lengths_table(const api::Model& learnt) {
  Table table({{"LENGTH", Table::Align::right},
               {"RESULTS", Table::Align::right},
               {"CORRELATION", Table::Align::right}});
  for (const api::ModelLength& one : learnt.lengths) {
    table.add(
        {std::to_string(engine::count(one.length)), std::to_string(one.results), fixed(one.correlation, 2)});
  }
  return table.text();
}

std::string best_text(const api::Model& learnt) {
  if (!learnt.best) {
    return "";
  }
  const api::ModelBest& best = *learnt.best;
  return "\nexpected to be the best: " + printable(learnt.metric) + " " +
         sentences::with_deviation(best.mean, best.deviation) + " at full length; " +
         (best.trial ? "trial " + std::to_string(best.trial->number()) : "no trial has tried it") + "\n" +
         yaml_text(best.hparams, 2);
}

std::string learnt_text(const api::Model& learnt) {
  const auto [results, needed] = std::pair(learnt.results, learnt.needed);
  if (results < needed) {
    return "the model has " + counted(results, "result") + " and needs " + std::to_string(needed) + ": " +
           std::to_string(needed - results) + (needed - results == 1 ? " is" : " are") + " missing\n";
  }
  if (learnt.hyperparameters.empty()) {
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
    return 0;
  }
  const auto model = read_as<api::Model>(*learnt);
  if (!model) {
    return output.fail(model.failure());
  }
  output.print(learnt_text(*model));
  return 0;
}

}  // namespace hpsearch::cli

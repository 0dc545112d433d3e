#include <optional>
#include <utility>

#include "hpsearch/engine/learnt.hpp"
#include "hpsearch/proto/api/client_api.hpp"
#include "hpsearch/proto/encoding/value_writer.hpp"

namespace hpsearch::proto {

using engine::ExperimentRecord;
using engine::Value;

Value model_value(const ExperimentRecord& experiment) {
  const std::optional<engine::Learnt> learnt =
      experiment.searcher != nullptr ? experiment.searcher->learnt() : std::nullopt;
  if (!learnt) {
    return {};
  }
  Value::List hyperparameters;
  for (const engine::Learnt::Importance& one : learnt->importance) {
    hyperparameters.push_back(
        Value::Map{{"name", one.name}, {"share", one.share}, {"length_scale", one.length_scale}});
  }
  Value::List lengths;
  for (const engine::Learnt::Agreement& one : learnt->lengths) {
    lengths.push_back(Value::Map{{"length", count_value(engine::count(one.length))},
                                 {"results", count_value(one.results)},
                                 {"correlation", one.correlation}});
  }
  Value best;
  if (learnt->best) {
    best = Value::Map{{"hparams", learnt->best->hparams},
                      {"mean", learnt->best->mean},
                      {"deviation", learnt->best->deviation},
                      {"trial", learnt->best->trial ? count_value(learnt->best->trial->number()) : Value()}};
  }
  return Value::Map{{"experiment", count_value(experiment.id.number())},
                    {"metric", experiment.config.searcher.metric},
                    {"unit", experiment.config.unit},
                    {"results", count_value(learnt->results)},
                    {"needed", count_value(learnt->needed)},
                    {"hyperparameters", std::move(hyperparameters)},
                    {"lengths", std::move(lengths)},
                    {"best", std::move(best)}};
}

}  // namespace hpsearch::proto

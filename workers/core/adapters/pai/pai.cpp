#include "core/adapters/pai/pai.hpp"

#include <string>
#include <utility>

#include "core/launch/launch_parts.hpp"
#include "hpsearch/workers/core/adapters/pai/pai_forms.hpp"

namespace hpsearch::workers {

using engine::Status;

namespace {

constexpr std::string_view pai_identity[] = {"PAI_"};

Status add_pai(const LaunchFacts& facts, Launch& launch) {
  const AttemptPlaces& places = facts.places;
  Variables& environment = launch.program.environment;
  environment["PAI_WORKING_DIR"] = places.ml + "/usercode";
  environment["PAI_CONFIG_DIR"] = places.ml + "/input/config/";
  Variables hyperparameters = pai_variables(facts.forms);
  hyperparameters["PAI_HPS"] = pai_hps(facts.forms, facts.spec.contract.pai_hps_strings);
  hyperparameters["PAI_USER_ARGS"] = pai_user_args(facts.forms);
  add_hyperparameters(std::move(hyperparameters), launch.program);
  for (const auto& [name, place] : places.inputs) {
    environment["PAI_INPUT_" + jobs::variable_part(name)] = place;
  }
  for (const auto& [name, place] : places.outputs) {
    environment["PAI_OUTPUT_" + jobs::variable_part(name)] = place;
  }
  launch.files[config_file("hyperparameters.json")] = pai_hyperparameters_json(facts.forms) + "\n";
  return engine::Done{};
}

}  // namespace

const Adapter pai_adapter{.add = add_pai, .identity = pai_identity};

}  // namespace hpsearch::workers

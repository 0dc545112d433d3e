#include "hpsearch/jobs/dialects/component.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "jobs/read_experiment.hpp"

namespace hpsearch::jobs {
namespace {

Value::Map parameter(const char* type) {
  return {{"type", type}};
}

Value trainer() {
  Value::Map lr = parameter("Float");
  lr["range"] = Value::Map{{"min", 0.0001}, {"max", 1}};
  lr["default"] = 0.01;
  Value::Map batch_size = parameter("Integer");
  batch_size["range"] = Value::Map{{"min", 1}, {"max", 512}};
  batch_size["required"] = true;
  Value::Map optimizer = parameter("string");
  optimizer["enum"] = Value::List{"sgd", "adam"};
  optimizer["default"] = "sgd";
  Value::Map bias = parameter("Bool");
  bias["bool_style"] = "flag";
  return Value::Map{
      {"name", "trainer"},
      {"boot_file", "train.py"},
      {"parameters",
       Value::Map{{"lr", lr}, {"batch_size", batch_size}, {"optimizer", optimizer}, {"bias", bias}}},
      {"inputs", Value::Map{{"data_url", Value::Map{{"passed_as", "argument"}}}}},
      {"outputs", Value::Map{{"train_url", Value::Map{{"passed_as", "argument"}, {"pre_download", true}}}}},
      {"metrics", Value::Map{{"acc", "acc=([0-9.]+)"}}},
  };
}

Value experiment_of(Value component, Value::Map hyperparameters) {
  Value tree = small_experiment();
  tree.as_map()->erase("entrypoint");
  tree = with(std::move(tree), "component", std::move(component));
  tree = with(std::move(tree), "inputs", Value::Map{{"data_url", "/data"}});
  tree = with(std::move(tree), "outputs", Value::Map{{"train_url", "/results"}});
  return with(std::move(tree), "hyperparameters", std::move(hyperparameters));
}

std::string component_problems(const Value& tree) {
  const ParsedComponent parsed = parse_component(tree, "");
  EXPECT_EQ(parsed.component.has_value(), parsed.problems.empty());
  return lines(parsed.problems);
}

TEST(Component, DefinesSpaceAndChannels) {
  const Value tree = experiment_of(trainer(), {{"lr", Value::Map{{"type", "declared"}}},
                                               {"bias", Value::Map{{"type", "declared"}}},
                                               {"batch_size", 32}});
  const ParsedExperiment parsed = parse_submission(tree, test_registry(), "stem", 11);
  ASSERT_TRUE(parsed.config) << lines(parsed.problems);
  EXPECT_EQ(lines(parsed.notes), "");
  EXPECT_EQ(compact_json(parsed.config->hyperparameters),
            R"({"batch_size":32,"bias":{"bool_style":"flag","type":"categorical","vals":[false,true]},)"
            R"("lr":{"maxval":1.0,"minval":0.0001,"type":"double"},"optimizer":"sgd"})");
  EXPECT_EQ(std::get<std::vector<std::string>>(parsed.program.entrypoint.command),
            (std::vector<std::string>{"python3", "train.py", "{args_eq}"}));
  EXPECT_EQ(parsed.program.contract,
            (JobContract{.inputs = {{"data_url", "/data", PassedAs::argument}},
                         .outputs = {{"train_url", "/results", PassedAs::argument, true}},
                         .bool_styles = {{"bias", BoolStyle::flag}}}));
  EXPECT_EQ(parsed.program.metrics.at("acc"), "acc=([0-9.]+)");
}

TEST(Component, EffectiveExperimentIsReadUnchanged) {
  const Value tree = experiment_of(trainer(), {{"lr", Value::Map{{"type", "declared"}}}, {"batch_size", 32}});
  const ParsedExperiment parsed = parse_submission(tree, test_registry(), "stem", 11);
  ASSERT_TRUE(parsed.config) << lines(parsed.problems);
  const Value effective = to_value(*parsed.config);
  const ParsedExperiment again = parse_submission(effective, test_registry(), "", 0);
  ASSERT_TRUE(again.config) << lines(again.problems);
  EXPECT_EQ(compact_json(to_value(*again.config)), compact_json(effective));
}

TEST(Component, RejectsUndeclaredValues) {
  EXPECT_EQ(
      problems_of(
          experiment_of(trainer(), {{"batch_size", 1024},
                                    {"lr", Value::Map{{"type", "log"}, {"minval", -6}, {"maxval", -1}}},
                                    {"optimiser", "adam"},
                                    {"optimizer", "rmsprop"}})),
      "hyperparameters.batch_size: can be what the component trainer does not take (Int from 1 to 512)\n"
      "hyperparameters.lr: can be what the component trainer does not take (Float from 0.0001 to 1)\n"
      "hyperparameters.optimiser: is not declared by the component trainer (did you mean `optimizer`?)\n"
      "hyperparameters.optimizer: can be what the component trainer does not take (String: one of \"sgd\", "
      "\"adam\")\n");
  EXPECT_EQ(
      problems_of(experiment_of(trainer(), {})),
      "hyperparameters.batch_size: is missing (Int from 1 to 512; the component trainer requires it)\n");
  Value tree = with(experiment_of(trainer(), {{"batch_size", 1}}), "inputs", Value::Map{{"data", "/data"}});
  EXPECT_EQ(problems_of(tree),
            "inputs.data: is not declared by the component trainer (what its inputs name)\n"
            "inputs.data_url: is missing (a path; the component trainer requires it)\n");
}

TEST(Component, DecimalPowerMayEqualItsBound) {
  EXPECT_EQ(problems_of(experiment_of(
                trainer(),
                {{"batch_size", 1}, {"lr", Value::Map{{"type", "log"}, {"minval", -4}, {"maxval", 0}}}})),
            "");
}

TEST(Component, PowerAboveItsBoundIsRefused) {
  EXPECT_EQ(problems_of(experiment_of(
                trainer(),
                {{"batch_size", 1}, {"lr", Value::Map{{"type", "log"}, {"minval", -4}, {"maxval", 0.01}}}})),
            "hyperparameters.lr: can be what the component trainer does not take (Float from 0.0001 to 1)\n");
}

/// An experiment with one parameter of each type.
Value typed_experiment(Value::Map hyperparameters) {
  Value::Map loud = parameter("Bool");
  loud["bool_style"] = "lower";
  Value tree = small_experiment();
  tree = with(std::move(tree), "component",
              Value::Map{{"name", "typed"},
                         {"parameters", Value::Map{{"n", parameter("Int")},
                                                   {"lr", parameter("Float")},
                                                   {"word", parameter("String")},
                                                   {"loud", loud}}}});
  return with(std::move(tree), "hyperparameters", std::move(hyperparameters));
}

std::string hyperparameters_of(Value::Map hyperparameters) {
  const ParsedExperiment parsed =
      parse_submission(typed_experiment(std::move(hyperparameters)), test_registry(), "stem", 11);
  return parsed.config ? compact_json(parsed.config->hyperparameters) : lines(parsed.problems);
}

TEST(Component, ConvertsGivenValuesToTheirDeclaredTypes) {
  EXPECT_EQ(hyperparameters_of({{"n", 32.0}, {"lr", 1}, {"word", "1"}}), R"({"lr":1.0,"n":32,"word":"1"})");
  const auto constant = [](Value value) {
    return Value(Value::Map{{"type", "const"}, {"val", std::move(value)}});
  };
  EXPECT_EQ(hyperparameters_of({{"n", constant(32.0)}, {"lr", constant(1)}}),
            R"({"lr":{"type":"const","val":1.0},"n":{"type":"const","val":32}})");
  const auto one_of = [](Value::List values) {
    return Value(Value::Map{{"type", "categorical"}, {"vals", std::move(values)}});
  };
  EXPECT_EQ(hyperparameters_of({{"n", one_of({1.0, 1e3})}, {"lr", one_of({1, 0.5})}}),
            R"({"lr":{"type":"categorical","vals":[1.0,0.5]},"n":{"type":"categorical","vals":[1,1000]}})");
}

TEST(Component, RefusesGivenValuesOfOtherTypes) {
  for (const Value& value : {Value(1.5), Value("32"), Value(true), Value(), Value(Value::List{1})}) {
    EXPECT_EQ(hyperparameters_of({{"n", value}}),
              "hyperparameters.n: can be what the component typed does not take (Int)\n");
  }
  EXPECT_EQ(hyperparameters_of({{"lr", Value::Map{{"adam", 0.1}}}}),
            "hyperparameters.lr: is a group of hyperparameters (Float)\n");
}

TEST(Component, BoolStyleAppliesToRangesOfTheExperiment) {
  EXPECT_EQ(hyperparameters_of({{"loud", true}}),
            R"({"loud":{"bool_style":"lower","type":"const","val":true}})");
  EXPECT_EQ(hyperparameters_of({{"loud", Value::Map{{"type", "const"}, {"val", false}}}}),
            R"({"loud":{"bool_style":"lower","type":"const","val":false}})");
  EXPECT_EQ(
      hyperparameters_of({{"loud", Value::Map{{"type", "categorical"}, {"vals", Value::List{true, false}}}}}),
      R"({"loud":{"bool_style":"lower","type":"categorical","vals":[true,false]}})");
  EXPECT_EQ(
      hyperparameters_of({{"loud", Value::Map{{"type", "const"}, {"val", true}, {"bool_style", "int"}}}}),
      R"({"loud":{"bool_style":"int","type":"const","val":true}})")
      << "the experiment's own style stands";
}

TEST(Component, LengthsCountCharacters) {
  Value::Map word = parameter("String");
  word["range"] = Value::Map{{"min", 2}, {"max", 2}};
  const auto problems = [&](const char* text) {
    Value tree = typed_experiment({{"word", text}});
    return problems_of(with(std::move(tree), "component.parameters.word", word));
  };
  EXPECT_EQ(problems("ab"), "");
  EXPECT_EQ(problems("漢é"), "");
  EXPECT_NE(problems("漢"), "");
  EXPECT_NE(problems("漢字é"), "");
}

TEST(Component, PatternIsAllowedOnlyForStrings) {
  Value::Map lr = parameter("Float");
  lr["pattern"] = "^1";
  EXPECT_EQ(component_problems(with(trainer(), "parameters.lr", lr)),
            "parameters.lr.pattern: stands at a parameter that is no String (no pattern)\n");
}

TEST(Component, FileNameMustBeReplacedByTheCommandLine) {
  EXPECT_EQ(problems_of(experiment_of("trainer.yaml", {})),
            "component: is \"trainer.yaml\" (the component itself, as a map: its file is read by the command "
            "line)\n"
            "entrypoint: is missing (a shell command, or a list of words run without a shell)\n");
}

TEST(Component, ReportsAllProblemsAtOnce) {
  Value tree = trainer();
  tree = with(std::move(tree), "entrypoint", "python train.py");
  tree = with(std::move(tree), "parameters.lr.default", 2);
  tree = with(std::move(tree), "parameters.batch_size.type", "Number");
  tree = with(std::move(tree), "parameters.batch_size.default", 1);
  tree = with(std::move(tree), "parameters.optimizer.range", Value::Map{{"min", 1}});
  tree = with(std::move(tree), "parameters.train-url", parameter("String"));
  tree = with(std::move(tree), "parameters._x", parameter("String"));
  EXPECT_EQ(
      component_problems(tree),
      "boot_file: stands beside entrypoint (one of them)\n"
      "parameters._x: has a name that none can have (1 to 64 of letters, digits, `_` and `-`, not beginning "
      "with `_`)\n"
      "parameters.batch_size.type: is \"Number\" (Int, Float, String or Bool)\n"
      "parameters.batch_size.required: is true beside a default (one of them: what has a default need not "
      "be given)\n"
      "parameters.lr.default: is 2 (Float from 0.0001 to 1)\n"
      "parameters.optimizer.enum: stands beside range (one of them)\n"
      "outputs.train_url: and parameters.train-url have one name but for capitals and punctuation "
      "(different names for parameters, inputs and outputs)\n");
}

/// An algorithm as PAI's public documents describe it.
Value algorithm() {
  const auto parameter = [](const char* name, const char* type, Value::Map more) {
    more["Name"] = name;
    more["Type"] = type;
    return Value(std::move(more));
  };
  return Value::Map{
      {"AlgorithmName", "trainer"},
      {"WorkspaceId", "12345"},
      {"AlgorithmSpec",
       Value::Map{
           {"Command", Value::List{"python train.py $PAI_USER_ARGS"}},
           {"Image", "registry/torch:2"},
           {"HyperParameters",
            Value::List{
                parameter(
                    "lr", "Float",
                    {{"DefaultValue", "0.01"},
                     {"Required", true},
                     {"Range", Value::Map{{"Minimum", "0"}, {"ExclusiveMinimum", true}, {"Maximum", "1"}}}}),
                parameter("epochs", "Int",
                          {{"Required", true},
                           {"Range", Value::Map{{"Minimum", "0"}, {"ExclusiveMinimum", "true"}}}}),
                parameter(
                    "optimizer", "String",
                    {{"DefaultValue", "sgd"}, {"Range", Value::Map{{"Enum", Value::List{"sgd", "adam"}}}}}),
                parameter("bias", "Bool", {{"DefaultValue", "True"}})}},
           {"InputChannels", Value::List{Value::Map{{"Name", "train"}, {"Required", true}}}},
           {"OutputChannels", Value::List{Value::Map{{"Name", "model"}}}},
           {"MetricDefinitions", Value::List{Value::Map{{"Name", "acc"}, {"Regex", "acc=([0-9.]+)"}}}}}}};
}

TEST(AlgorithmSpec, IsReadAsAComponent) {
  const ParsedComponent parsed = parse_component(algorithm(), "");
  ASSERT_TRUE(parsed.component) << lines(parsed.problems);
  const Component& component = *parsed.component;
  EXPECT_EQ(component.name, "trainer");
  EXPECT_EQ(component.entrypoint, Value("python train.py $PAI_USER_ARGS"));
  ASSERT_EQ(component.parameters.size(), 4U);
  const ComponentParameter& bias = component.parameters[0];
  EXPECT_EQ(bias.default_value, Value(true));
  const ComponentParameter& epochs = component.parameters[1];
  EXPECT_TRUE(epochs.required);
  EXPECT_EQ(epochs.least, 1.0) << "0 is excluded";
  const ComponentParameter& lr = component.parameters[2];
  EXPECT_EQ(lr.default_value, Value(0.01));
  EXPECT_FALSE(lr.required) << "what has a default need not be given";
  EXPECT_GT(lr.least.value_or(0), 0.0);
  EXPECT_EQ(bound_text(*lr.least), "above 0");
  EXPECT_EQ(lr.greatest, 1.0);
  EXPECT_EQ(component.parameters[3].choices, (std::vector<Value>{"sgd", "adam"}));
  ASSERT_EQ(component.inputs.size(), 1U);
  EXPECT_TRUE(component.inputs[0].required);
  EXPECT_EQ(component.metrics.at("acc"), "acc=([0-9.]+)");
  EXPECT_EQ(component.image, "registry/torch:2");
  EXPECT_EQ(lines(parsed.notes), "");
}

/// Reads an experiment whose algorithm has this member.
ParsedExperiment with_member(const char* key, Value value, Value::Map more = {}) {
  Value tree = algorithm();
  Value::Map& spec = *(*tree.as_map())["AlgorithmSpec"].as_map();
  spec.erase("Image");
  spec[key] = std::move(value);
  Value experiment = with(small_experiment(), "component", tree);
  experiment = with(std::move(experiment), "hyperparameters", Value::Map{{"epochs", 3}});
  experiment = with(std::move(experiment), "inputs", Value::Map{{"train", "/data"}});
  for (const auto& [field, given] : more) {
    experiment = with(std::move(experiment), field, given);
  }
  return parse_submission(experiment, test_registry(), "stem", 11);
}

TEST(AlgorithmSpec, JobTypeIsTheLaunchKind) {
  const std::pair<const char*, LaunchKind> table[] = {
      {"PyTorchJob", LaunchKind::pytorch},
      {"TFJob", LaunchKind::tensorflow},
      {"Tensorflow", LaunchKind::tensorflow},
      {"XGBoostJob", LaunchKind::xgboost},
      {"MPIJob", LaunchKind::mpi},
      {"ElasticBatch", LaunchKind::elastic_batch},
  };
  for (const auto& [job_type, kind] : table) {
    const ParsedExperiment parsed = with_member("JobType", job_type);
    ASSERT_TRUE(parsed.config) << lines(parsed.problems);
    EXPECT_EQ(parsed.program.launch.kind, kind) << job_type;
    const ParsedExperiment again = parse_submission(to_value(*parsed.config), test_registry(), "", 0);
    ASSERT_TRUE(again.config);
    EXPECT_EQ(again.program.launch.kind, kind);
  }
  EXPECT_EQ(
      with_member("JobType", "PyTorchJob", {{"launch", Value::Map{{"kind", "process"}}}}).program.launch.kind,
      LaunchKind::process)
      << "the experiment's own word stands";
  EXPECT_EQ(lines(with_member("JobType", "PyTorchJobs").problems),
            "component.AlgorithmSpec.JobType: is \"PyTorchJobs\" (did you mean `PyTorchJob`?)\n");
  const ParsedExperiment other = with_member("JobType", "SlurmJob");
  EXPECT_TRUE(other.config) << lines(other.problems);
  EXPECT_NE(
      lines(other.notes).find("component.AlgorithmSpec.JobType: is \"SlurmJob\", which has no effect here"),
      std::string::npos);
}

TEST(AlgorithmSpec, ImageIsUsedUnlessTheExperimentSetsOne) {
  const ParsedExperiment parsed = with_member("Image", "registry/torch:2");
  ASSERT_TRUE(parsed.config) << lines(parsed.problems);
  EXPECT_EQ(parsed.program.contract.image, "registry/torch:2");
  EXPECT_NE(lines(parsed.notes)
                .find("environment.image: is the component's, \"registry/torch:2\"; an empty one runs "
                      "programs without a "
                      "container\n"),
            std::string::npos);
  const ParsedExperiment other =
      with_member("Image", "registry/torch:2", {{"environment", Value::Map{{"image", ""}}}});
  ASSERT_TRUE(other.config) << lines(other.problems);
  EXPECT_EQ(other.program.contract.image, "");
  EXPECT_EQ(lines(other.notes).find("environment.image"), std::string::npos);
}

TEST(AlgorithmSpec, WithoutDistributedTrainingTrialsStayOnOneWorker) {
  const ParsedExperiment parsed = with_member("SupportsDistributedTraining", false);
  ASSERT_TRUE(parsed.config) << lines(parsed.problems);
  EXPECT_TRUE(parsed.program.resources.is_single_node);
  EXPECT_EQ(lines(with_member("SupportsDistributedTraining", false,
                              {{"resources", Value::Map{{"is_single_node", false}}}})
                      .problems),
            "resources.is_single_node: is false (true: the component trainer trains on one node)\n");
  EXPECT_FALSE(with_member("SupportsDistributedTraining", true).program.resources.is_single_node);
}

TEST(Component, ConstraintsLimitTheResources) {
  const auto problems = [](Value::Map constraints, Value::Map resources) {
    Value tree = experiment_of(with(trainer(), "constraints", std::move(constraints)), {{"batch_size", 1}});
    return problems_of(with(std::move(tree), "resources", std::move(resources)));
  };
  EXPECT_EQ(problems({{"machine", "gpu"}, {"multi_card", false}}, {{"slots_per_trial", 1}}), "");
  EXPECT_EQ(problems({{"machine", "gpu"}}, {{"slots_per_trial", 0}}),
            "resources.slots_per_trial: is 0 (at least 1: the component trainer trains on GPUs)\n");
  EXPECT_EQ(problems({{"multi_card", false}}, {{"slots_per_trial", 2}}),
            "resources.slots_per_trial: is 2 (at most 1: the component trainer trains on one card)\n");
  EXPECT_EQ(problems({{"multi_card", true}, {"multi_node", true}}, {{"slots_per_trial", 2}}), "");
  EXPECT_EQ(component_problems(with(trainer(), "constraints", Value::Map{{"machine", "tpu"}})),
            "constraints.machine: is \"tpu\" (did you mean `cpu`? cpu or gpu)\n");
}

TEST(AlgorithmSpec, RequiredOutputsOfEveryAttemptNeedNoPath) {
  const auto required = [](const char* name) {
    return Value(Value::List{Value::Map{{"Name", name}, {"Required", true}}});
  };
  for (const char* name : {"model", "checkpoints", "logs", "tensorboard"}) {
    EXPECT_EQ(lines(with_member("OutputChannels", required(name)).problems), "");
  }
  EXPECT_EQ(lines(with_member("OutputChannels", required("plots")).problems),
            "outputs.plots: is missing (a path; the component trainer requires it)\n");
}

TEST(AlgorithmSpec, BareSpecHasTheSameMeaning) {
  const ParsedComponent parsed = parse_component(*algorithm().as_map()->find("AlgorithmSpec"), "");
  ASSERT_TRUE(parsed.component) << lines(parsed.problems);
  EXPECT_EQ(parsed.component->parameters.size(), 4U);
}

TEST(AlgorithmSpec, ProblemsHavePathsOfTheSpec) {
  Value tree = algorithm();
  Value::Map& spec = *(*tree.as_map())["AlgorithmSpec"].as_map();
  spec["Comand"] = "x";
  spec["InputChannels"] = Value::List{Value::Map{{"Required", true}}};
  spec["OutputChannels"] = Value::Map{};
  EXPECT_EQ(lines(parse_component(tree, "").problems),
            "AlgorithmSpec.InputChannels[0]: has no Name (a map with a Name)\n"
            "AlgorithmSpec.OutputChannels: is {} (a list of maps, each with a Name)\n"
            "AlgorithmSpec.Comand: is not known (did you mean `Command`?)\n");
}

TEST(AlgorithmSpec, UnknownMembersAreReportedEverywhere) {
  Value tree = algorithm();
  Value::Map& spec = *(*tree.as_map())["AlgorithmSpec"].as_map();
  spec["HyperParameters"] = Value::List{Value::Map{{"Name", "lr"},
                                                   {"Type", "Float"},
                                                   {"Defaultvalue", "0.1"},
                                                   {"Reqired", true},
                                                   {"Rnge", Value::Map{}},
                                                   {"Range", Value::Map{{"Minimun", "0"}}}}};
  spec["InputChannels"] = Value::List{Value::Map{{"Name", "train"}, {"Requiredd", true}}};
  spec["MetricDefinitions"] = Value::List{Value::Map{{"Name", "acc"}, {"Regexp", "acc=(.*)"}}};
  EXPECT_EQ(lines(parse_component(tree, "").problems),
            "AlgorithmSpec.HyperParameters[0].Defaultvalue: is not known (did you mean `DefaultValue`?)\n"
            "AlgorithmSpec.HyperParameters[0].Reqired: is not known (did you mean `Required`?)\n"
            "AlgorithmSpec.HyperParameters[0].Rnge: is not known (did you mean `Range`?)\n"
            "AlgorithmSpec.HyperParameters[0].Range.Minimun: is not known (did you mean `Minimum`?)\n"
            "AlgorithmSpec.InputChannels[0].Requiredd: is not known (did you mean `Required`?)\n"
            "AlgorithmSpec.MetricDefinitions[0].Regexp: is not known (did you mean `Regex`?)\n");
}

TEST(AlgorithmSpec, ProblemsOfValuesUseTheNamesOfTheSpec) {
  Value tree = algorithm();
  Value::Map& spec = *(*tree.as_map())["AlgorithmSpec"].as_map();
  const auto parameter = [](const char* name, const char* type, const char* otherwise, Value::Map range) {
    return Value(
        Value::Map{{"Name", name}, {"Type", type}, {"DefaultValue", otherwise}, {"Range", std::move(range)}});
  };
  spec["HyperParameters"] = Value::List{
      parameter("lr", "Float", "2", {{"Maximum", "1"}}), parameter("n", "Int", "", {{"Minimum", "0.5"}}),
      parameter("tag", "String", "v", {{"MinLength", "one"}}), parameter("kind", "Sting", "", {}),
      parameter("word", "String", "v1", {{"Pattern", "^w"}, {"Maximum", "2"}})};
  const ParsedComponent parsed = parse_component(tree, "component");
  EXPECT_EQ(lines(parsed.problems),
            "component.AlgorithmSpec.HyperParameters[3].Type: is \"Sting\" (Int, Float, String or Bool)\n"
            "component.AlgorithmSpec.HyperParameters[0].DefaultValue: is 2.0 (Float up to 1)\n"
            "component.AlgorithmSpec.HyperParameters[1].Range.Minimum: is 0.5 (an integer, as the parameter "
            "is an Int)\n"
            "component.AlgorithmSpec.HyperParameters[2].Range.MinLength: is \"one\" (a number)\n");
  EXPECT_EQ(
      lines(parsed.notes),
      "component.AlgorithmSpec.HyperParameters[4].Range.Maximum: has no effect at a String: MinLength and "
      "MaxLength count\n");
  ASSERT_EQ(parsed.patterns.size(), 2U);
  EXPECT_EQ(parsed.patterns[0].path, "component.AlgorithmSpec.HyperParameters[4].Range.Pattern");
  EXPECT_EQ(parsed.patterns[0].texts.at(0).path, "component.AlgorithmSpec.HyperParameters[4].DefaultValue");
  EXPECT_EQ(parsed.patterns[1].path, "component.AlgorithmSpec.MetricDefinitions[0].Regex");
}

}  // namespace
}  // namespace hpsearch::jobs

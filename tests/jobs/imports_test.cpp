// Files of other products as experiments of ours: the reader of submissions reads each translation
// again.
#include "hpsearch/jobs/imports/imports.hpp"

#include <gtest/gtest.h>

#include "hpsearch/searchers/registry.hpp"
#include "jobs/read_experiment.hpp"

namespace hpsearch::jobs {
namespace {

ImportedExperiment imported(const Value& tree) {
  ImportedExperiment made = import_experiment(tree);
  EXPECT_EQ(lines(made.problems), "");
  if (!made.problems.empty()) {
    return {};
  }
  const ParsedExperiment parsed = parse_submission(made.tree, searchers::registry(), "stem", 11);
  EXPECT_EQ(lines(parsed.problems), "");
  EXPECT_FALSE(foreign_file(made.tree));
  return made;
}

std::string remarks(const ImportedExperiment& experiment) {
  std::string text;
  for (const ImportRemark& remark : experiment.remarks) {
    text += remark.path + ": " + remark.text + "\n";
  }
  return text;
}

std::string at(const ImportedExperiment& experiment, std::string_view path) {
  const Value* found = experiment.tree.at_path(path);
  return found == nullptr ? "" : compact_json(*found);
}

std::string remark_on(const ImportedExperiment& experiment, std::string_view path) {
  std::string text;
  for (const ImportRemark& remark : experiment.remarks) {
    text += remark.path == path ? remark.text : "";
  }
  return text;
}

Value wandb_sweep() {
  return Value::Map{
      {"program", "train.py"},
      {"method", "bayes"},
      {"name", "mnist"},
      {"metric", Value::Map{{"name", "val_acc"}, {"goal", "maximize"}, {"target", 0.99}}},
      {"run_cap", 30},
      {"early_terminate", Value::Map{{"type", "hyperband"}, {"max_iter", 27}, {"eta", 3}, {"s", 2}}},
      {"parameters",
       Value::Map{
           {"lr", Value::Map{{"distribution", "log_uniform_values"}, {"min", 0.0001}, {"max", 0.1}}},
           {"decay", Value::Map{{"distribution", "log_uniform"}, {"min", -5}, {"max", 0}}},
           {"batch_size", Value::Map{{"values", Value::List{32, 64}}}},
           {"layers", Value::Map{{"min", 1}, {"max", 4}}},
           {"dropout", Value::Map{{"min", 0.0}, {"max", 0.5}}},
           {"hidden", Value::Map{{"distribution", "q_uniform"}, {"min", 32}, {"max", 128}, {"q", 32}}},
           {"noise", Value::Map{{"distribution", "normal"}, {"mu", 0}, {"sigma", 0.5}}},
           {"epochs", Value::Map{{"value", 10}}},
           {"optimizer", Value::Map{{"parameters", Value::Map{{"name", Value::Map{{"value", "adam"}}}}}}},
       }},
  };
}

TEST(WandbSweep, BecomesAnExperiment) {
  const ImportedExperiment made = imported(wandb_sweep());
  EXPECT_EQ(at(made, "hyperparameters.lr"),
            R"({"maxval":0.1,"minval":0.0001,"scale":"log","type":"double"})");
  EXPECT_EQ(at(made, "hyperparameters.decay"),
            R"({"base":2.718281828459045,"maxval":0,"minval":-5,"type":"log"})");
  EXPECT_EQ(at(made, "hyperparameters.batch_size"), R"({"type":"categorical","vals":[32,64]})");
  EXPECT_EQ(at(made, "hyperparameters.layers"), R"({"maxval":4,"minval":1,"type":"int"})");
  EXPECT_EQ(at(made, "hyperparameters.dropout"), R"({"maxval":0.5,"minval":0,"type":"double"})");
  EXPECT_EQ(at(made, "hyperparameters.hidden"), R"({"maxval":128,"minval":32,"step":32,"type":"int"})");
  EXPECT_EQ(at(made, "hyperparameters.noise"), R"({"maxval":1,"minval":-1,"type":"double"})");
  EXPECT_EQ(at(made, "hyperparameters.epochs"), "10");
  EXPECT_EQ(at(made, "hyperparameters.optimizer"), R"({"name":"adam"})");
  EXPECT_EQ(
      at(made, "searcher"),
      R"({"divisor":3,"max_length":{"epochs":27},"max_trials":30,"metric":"val_acc","name":"async_halving",)"
      R"("num_rungs":3,"sampler":"model","smaller_is_better":false,"stop_once":true})");
  EXPECT_EQ(at(made, "budget"), R"({"target":0.99})");
  EXPECT_EQ(at(made, "entrypoint"), R"(["python3","-m","hpsearch.wandb","train.py","{args_eq}"])");
  EXPECT_EQ(remark_on(made, "hyperparameters.noise"),
            "was a normal distribution around 0: searched evenly within two deviations");
}

TEST(WandbSweep, KeepsItsCommand) {
  const Value command = Value::List{"${env}", "python", "${program}", "--data", "{x}", "${args_no_hyphens}"};
  EXPECT_EQ(at(imported(with(wandb_sweep(), "command", command)), "entrypoint"),
            R"(["python","-m","hpsearch.wandb","train.py","--data","{{x}}","{args_no_hyphens}"])");
}

struct Command {
  const char* name;
  Value::List words;
  const char* entrypoint;
  const char* variables;
};

class WandbCommand : public testing::TestWithParam<Command> {};

// A program that Python starts gets the stand-in for wandb.
TEST_P(WandbCommand, StartsTheSameProgram) {
  const ImportedExperiment made = imported(with(wandb_sweep(), "command", GetParam().words));
  EXPECT_EQ(at(made, "entrypoint"), GetParam().entrypoint);
  EXPECT_EQ(at(made, "environment.environment_variables"), GetParam().variables);
  EXPECT_EQ(remark_on(made, "entrypoint"),
            "hpsearch.wandb stands in for wandb in the program; it needs the Python package hpsearch");
}

INSTANTIATE_TEST_SUITE_P(
    Of, WandbCommand,
    testing::Values(Command{"AModule",
                            {"${env}", "${interpreter}", "-m", "pkg.train", "${args}"},
                            R"(["python3","-m","hpsearch.wandb","-m","pkg.train","{args_eq}"])",
                            ""},
                    Command{
                        "AScript",
                        {"/opt/venv/bin/python3.11", "src/train.py", "${args}"},
                        R"(["/opt/venv/bin/python3.11","-m","hpsearch.wandb","src/train.py","{args_eq}"])",
                        ""},
                    Command{"OptionsOfPython",
                            {"${interpreter}", "-u", "-X", "dev", "-W", "error", "${program}"},
                            R"(["python3","-u","-X","dev","-W","error","-m","hpsearch.wandb","train.py"])",
                            ""},
                    Command{"Variables",
                            {"${env}", "OMP_NUM_THREADS=2", "NOTE=a=b", "${interpreter}", "${program}",
                             "data=x", "${args}"},
                            R"(["python3","-m","hpsearch.wandb","train.py","data=x","{args_eq}"])",
                            R"({"NOTE":"a=b","OMP_NUM_THREADS":"2"})"},
                    Command{"VariablesOfEnvItself",
                            {"/usr/bin/env", "A=1", "python", "${program}"},
                            R"(["python","-m","hpsearch.wandb","train.py"])",
                            R"({"A":"1"})"},
                    Command{"AnotherPythonBehindIt",
                            {"python", "${program}", "--python", "python3", "run.py"},
                            R"(["python","-m","hpsearch.wandb","train.py","--python","python3","run.py"])",
                            ""}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(WandbSweep, RemarkExplainsTheStandInForOtherLaunchers) {
  for (const Value::List& words :
       {Value::List{"torchrun", "${program}", "${args}"}, Value::List{"${interpreter}", "-c", "import a"}}) {
    const ImportedExperiment made = imported(with(wandb_sweep(), "command", words));
    EXPECT_EQ(
        remark_on(made, "entrypoint"),
        "the program must find hpsearch.wandb as wandb: put the directory that `python3 -m hpsearch.wandb "
        "--path` prints first on PYTHONPATH");
  }
}

TEST(WandbSweep, KeepsBooleansAsFlags) {
  Value tree =
      with(wandb_sweep(), "command", Value::List{"${interpreter}", "${program}", "${args_no_boolean_flags}"});
  tree = with(tree, "parameters.nesterov", Value::Map{{"values", Value::List{true, false}}});
  tree = with(tree, "parameters.augment", Value::Map{{"value", true}});
  tree =
      with(tree, "parameters.optimizer.parameters.amsgrad", Value::Map{{"values", Value::List{false, true}}});
  const ImportedExperiment made = imported(tree);
  EXPECT_EQ(at(made, "hyperparameters.nesterov"),
            R"({"bool_style":"flag","type":"categorical","vals":[true,false]})");
  EXPECT_EQ(at(made, "hyperparameters.augment"), R"({"bool_style":"flag","type":"const","val":true})");
  EXPECT_EQ(at(made, "hyperparameters.optimizer.amsgrad"),
            R"({"bool_style":"flag","type":"categorical","vals":[false,true]})");
  EXPECT_EQ(at(made, "entrypoint"), R"(["python3","-m","hpsearch.wandb","train.py","{args_eq}"])");
  EXPECT_EQ(remark_on(made, "entrypoint"),
            "hpsearch.wandb stands in for wandb in the program; it needs the Python package hpsearch");
}

/// The searcher of a sweep with this `early_terminate`, in one line, and the decisions that are left to the
/// user.
std::string stops(Value::Map early, std::optional<int> epochs = std::nullopt) {
  Value tree = with(wandb_sweep(), "early_terminate", std::move(early));
  tree = epochs ? with(tree, "parameters.epochs.value", *epochs) : tree;
  if (!epochs) {
    tree.as_map()->find("parameters")->as_map()->erase("epochs");
  }
  const ImportedExperiment made = imported(tree);
  return at(made, "searcher.name") + " " + at(made, "searcher.num_rungs") + " " +
         at(made, "searcher.divisor") + " " + at(made, "searcher.max_length.epochs") + " " +
         at(made, "searcher.stop_once") + " " + remark_on(made, "searcher.num_rungs");
}

// W&B stops a run at max_iter / eta, max_iter / eta², … (s of them), or at min_iter, min_iter · eta, ….
TEST(WandbSweep, StopsRunsAtTheSameIterations) {
  const auto early = [](Value::Map more) {
    more["type"] = "hyperband";
    return more;
  };
  EXPECT_EQ(stops(early({{"max_iter", 27}, {"s", 2}, {"eta", 3}})), R"("async_halving" 3 3 27 true )");
  EXPECT_EQ(stops(early({{"max_iter", 27}, {"s", 2}})), R"("async_halving" 3 3 27 true )");
  EXPECT_EQ(stops(early({{"max_iter", 16}, {"s", 9}, {"eta", 2}})), R"("async_halving" 5 2 16 true )");
  EXPECT_EQ(stops(early({{"max_iter", 27}})), R"("adaptive_asha"  3 27 true )");
  EXPECT_EQ(stops(early({{"min_iter", 3}}), 81), R"("async_halving" 4 3 81 true )");
  EXPECT_EQ(stops(early({{"min_iter", 3}})), R"("async_halving" 3 3 27 true )");
  EXPECT_EQ(stops(early({{"min_iter", 3}}), 10), R"("async_halving" 2 3 10 true )"
                                                 "");
  EXPECT_EQ(
      stops(early({{"min_iter", 3}}), 100),
      R"("async_halving" 4 3 100 true early_terminate.min_iter is 3; with this max_length the first rung is at 4)");
  EXPECT_EQ(
      stops(early({{"min_iter", 30}}), 10),
      R"("async_halving" 1 3 10 true early_terminate.min_iter is 30; with this max_length the first rung is at 10)");
}

TEST(WandbSweep, GridGetsItsPoints) {
  Value tree = with(with(wandb_sweep(), "method", "grid"), "early_terminate", Value());
  tree.as_map()->erase("run_cap");
  const ImportedExperiment made = imported(tree);
  EXPECT_EQ(at(made, "searcher.name"), R"("grid")");
  EXPECT_EQ(at(made, "hyperparameters.layers.count"), "4");
  EXPECT_EQ(remark_on(made, "hyperparameters.dropout"), "a grid needs the number of its points");
  EXPECT_EQ(remark_on(made, "searcher.max_length"),
            "taken from the parameter epochs; it is how often a trial reports the metric at most");
}

TEST(WandbSweep, GridThatStopsEarlyTriesEachCombinationOnce) {
  const ImportedExperiment made = imported(with(wandb_sweep(), "method", "grid"));
  EXPECT_EQ(at(made, "searcher.name"), R"("async_halving")");
  EXPECT_EQ(at(made, "searcher.on_duplicate"), R"("reject")");
  EXPECT_EQ(remark_on(made, "searcher.name"),
            "a grid can't be stopped early here: each combination is drawn once, at random");
}

TEST(WandbSweep, RemarksNameAssumptions) {
  const ImportedExperiment made = imported(Value::Map{
      {"method", "bayes"}, {"parameters", Value::Map{{"lr", Value::Map{{"min", 0.1}, {"max", 0.2}}}}}});
  EXPECT_EQ(
      remarks(made),
      "entrypoint: the file names no program\n"
      "entrypoint: hpsearch.wandb stands in for wandb in the program; it needs the Python package "
      "hpsearch\n"
      "searcher.metric: the file names no metric\n"
      "searcher.max_trials: the file does not limit the number of trials\n"
      "searcher.max_length: how often a trial reports the metric at most; the file does not say it, the "
      "program does\n");
}

Value nni_space() {
  const auto parameter = [](const char* type, Value::List values) {
    return Value::Map{{"_type", type}, {"_value", std::move(values)}};
  };
  return Value::Map{{"lr", parameter("loguniform", {0.0001, 0.1})},
                    {"hidden", parameter("choice", {128, 256})},
                    {"layers", parameter("randint", {1, 5})},
                    {"drop", parameter("quniform", {0.1, 0.3, 0.1})},
                    {"momentum", parameter("uniform", {0, 1})}};
}

TEST(NniSpace, BecomesAnExperiment) {
  const ImportedExperiment made = imported(nni_space());
  EXPECT_EQ(at(made, "hyperparameters"),
            R"({"drop":{"maxval":0.3,"minval":0.1,"step":0.1,"type":"double"},)"
            R"("hidden":{"type":"categorical","vals":[128,256]},)"
            R"("layers":{"maxval":4,"minval":1,"type":"int"},)"
            R"("lr":{"maxval":0.1,"minval":0.0001,"scale":"log","type":"double"},)"
            R"("momentum":{"maxval":1,"minval":0,"type":"double"}})")
      << "randint has no upper end";
}

TEST(NniSpace, ChoicesWithTheirOwnParametersBecomeConditions) {
  const auto choice = [](Value::List values) {
    return Value::Map{{"_type", "choice"}, {"_value", std::move(values)}};
  };
  const ImportedExperiment made = imported(Value::Map{
      {"lr", Value::Map{{"_type", "uniform"}, {"_value", Value::List{0, 1}}}},
      {"layer", choice({Value::Map{{"_name", "Empty"}},
                        Value::Map{{"_name", "Conv"}, {"size", choice({2, 3})}, {"pad", choice({0, 1})}},
                        Value::Map{{"_name", "Pool"}, {"size", choice({2, 5})}, {"pad", choice({0, 1})}}})}});
  EXPECT_EQ(at(made, "hyperparameters.layer"),
            R"({"Conv":{"size":{"type":"categorical","vals":[2,3],"when":{"layer._name":"Conv"}}},)"
            R"("Pool":{"size":{"type":"categorical","vals":[2,5],"when":{"layer._name":"Pool"}}},)"
            R"("_name":{"type":"categorical","vals":["Empty","Conv","Pool"]},)"
            R"("pad":{"type":"categorical","vals":[0,1],"when":{"layer._name":["Conv","Pool"]}}})");
}

TEST(NniExperiment, BothVersionsBecomeAnExperiment) {
  const Value second = Value::Map{
      {"experimentName", "mnist"},
      {"searchSpace", nni_space()},
      {"trialCommand", "python3 mnist.py --epochs 5"},
      {"trialCodeDirectory", "."},
      {"trialGpuNumber", 2},
      {"trialConcurrency", 4},
      {"maxTrialNumber", 10},
      {"maxExperimentDuration", "1h"},
      {"tuner", Value::Map{{"name", "TPE"}, {"classArgs", Value::Map{{"optimize_mode", "minimize"}}}}}};
  const ImportedExperiment made = imported(second);
  EXPECT_EQ(at(made, "entrypoint"), R"("python3 mnist.py --epochs 5")");
  EXPECT_EQ(at(made, "budget"), R"({"max_time":"1h"})");
  EXPECT_EQ(at(made, "searcher"),
            R"({"max_concurrent_trials":4,"max_length":{"epochs":5},"max_trials":10,"metric":"default",)"
            R"("name":"random","sampler":"tpe","smaller_is_better":true})");
  const Value first = Value::Map{{"trial", Value::Map{{"command", "python3 mnist.py"}, {"gpuNum", 0}}},
                                 {"searchSpacePath", "search_space.json"},
                                 {"maxTrialNum", 10},
                                 {"tuner", Value::Map{{"builtinTunerName", "TPE"}}}};
  EXPECT_EQ(nni_space_file(first), "search_space.json");
  EXPECT_EQ(nni_space_file(second), "");
  EXPECT_EQ(at(imported(with(first, "searchSpace", nni_space())), "searcher.smaller_is_better"), "false");
}

Value auto_search() {
  const auto param = [](const char* key, const char* value) {
    return Value(Value::Map{{"key", key}, {"value", value}, {"type", "Integer"}});
  };
  return Value::Map{
      {"reward_attrs", Value::List{Value::Map{{"name", "acc"}, {"mode", "max"}, {"regex", "acc = ([0-9.]+)"}},
                                   Value::Map{{"name", "loss"},
                                              {"mode", "min"},
                                              {"regex", "loss (?:=|:) \\(([0-9]+(?:\\.[0-9]+)?)\\)"}}}},
      {"search_params", Value::List{Value::Map{{"name", "lr"},
                                               {"param_type", "continuous"},
                                               {"lower_bound", "0.001"},
                                               {"upper_bound", "0.1"},
                                               {"discrete_points_num", ""}},
                                    Value::Map{{"name", "momentum"},
                                               {"param_type", "continuous"},
                                               {"lower_bound", "0"},
                                               {"upper_bound", "0.9"},
                                               {"discrete_points_num", "4"}},
                                    Value::Map{{"name", "batch_size"},
                                               {"param_type", "discrete"},
                                               {"discrete_values", Value::List{"32", "64"}}}}},
      {"algo_configs",
       Value::List{Value::Map{{"name", "bayes_opt_search"},
                              {"params", Value::List{param("kind", "ucb"), param("num_samples", "30")}}}}}};
}

TEST(ModelArtsAutoSearch, BecomesAnExperiment) {
  const Value job = Value::Map{
      {"kind", "autosearch_job"},
      {"algorithm", Value::Map{{"boot_file", "train.py"},
                               {"parameters", Value::List{Value::Map{{"name", "epochs"}, {"value", "10"}}}}}},
      {"advanced_config", Value::Map{{"auto_search", auto_search()}}}};
  EXPECT_EQ(foreign_file(job), ForeignFile::modelarts_auto_search);
  EXPECT_EQ(foreign_file(auto_search()), ForeignFile::modelarts_auto_search);
  const ImportedExperiment made = imported(job);
  EXPECT_EQ(at(made, "entrypoint"), R"(["python3","train.py","{args_eq}"])");
  EXPECT_EQ(at(made, "hyperparameters"),
            R"({"batch_size":{"type":"categorical","vals":[32,64]},"epochs":"10",)"
            R"("lr":{"maxval":0.1,"minval":0.001,"type":"double"},)"
            R"("momentum":{"maxval":0.9,"minval":0,"step":0.3,"type":"double"}})");
  EXPECT_EQ(at(made, "metrics"), R"x({"acc":"acc = {number}","loss":"loss (?:=|:) \\({number}\\)"})x");
  EXPECT_EQ(at(made, "searcher.sampler"), R"("model")");
  EXPECT_EQ(at(made, "searcher.max_trials"), "30");
  EXPECT_EQ(at(made, "searcher.smaller_is_better"), "false");
  EXPECT_EQ(remark_on(made, "searcher.sampler"), "kind of bayes_opt_search has no meaning here");
}

TEST(ModelArtsAutoSearch, ReadsTheParametersOfTheOtherAlgorithms) {
  const auto with_algorithm = [](const char* name, const char* key, const char* value) {
    return with(auto_search(), "algo_configs",
                Value::List{Value::Map{
                    {"name", name},
                    {"params", Value::List{Value::Map{{"key", key}, {"value", value}, {"type", "Float"}}}}}});
  };
  const ImportedExperiment tpe = imported(with_algorithm("tpe_search", "gamma", "0.2"));
  EXPECT_EQ(at(tpe, "searcher.sampler"), R"("tpe")");
  EXPECT_EQ(at(tpe, "searcher.tpe"), R"({"gamma":0.2})");
  EXPECT_EQ(at(tpe, "searcher.max_trials"), "20") << "that platform's default";
  const ImportedExperiment anneal = imported(with_algorithm("anneal_search", "avg_best_idx", "3"));
  EXPECT_EQ(at(anneal, "searcher.anneal"), R"({"avg_best_idx":3})");
}

TEST(ModelArtsAutoSearch, SeveralAlgorithmsAreRefusedInOneSentence) {
  const Value both =
      with(auto_search(), "algo_configs",
           Value::List{Value::Map{{"name", "bayes_opt_search"}}, Value::Map{{"name", "tpe_search"}}});
  EXPECT_EQ(
      lines(import_experiment(both).problems),
      "algo_configs: names 2 algorithms: bayes_opt_search, tpe_search (one algorithm, because a search here "
      "has one; import the file once for each)\n");
}

TEST(OptunaSpace, BecomesAnExperiment) {
  const Value space =
      Value::Map{{"lr", Value::Map{{"type", "float"}, {"low", 1e-5}, {"high", 0.1}, {"log", true}}},
                 {"layers", Value::Map{{"type", "int"}, {"low", 1}, {"high", 3}}},
                 {"width", Value::Map{{"name", "IntDistribution"}, {"low", 16}, {"high", 64}, {"step", 16}}},
                 {"opt", Value::Map{{"type", "categorical"}, {"choices", Value::List{"sgd", "adam"}}}}};
  const char* expected = R"({"layers":{"maxval":3,"minval":1,"type":"int"},)"
                         R"("lr":{"maxval":0.1,"minval":1e-05,"scale":"log","type":"double"},)"
                         R"("opt":{"type":"categorical","vals":["sgd","adam"]},)"
                         R"("width":{"maxval":64,"minval":16,"step":16,"type":"int"}})";
  EXPECT_EQ(at(imported(space), "hyperparameters"), expected);
  EXPECT_EQ(at(imported(Value::Map{{"search_space", space}}), "hyperparameters"), expected);
}

// Each range had lost its steps once.
TEST(ForeignRange, NormalDistributionKeepsItsSteps) {
  const auto normal = [](const char* kind, double mu, double sigma, Value q) {
    return imported(with(
        wandb_sweep(), "parameters",
        Value::Map{
            {"h", Value::Map{{"distribution", kind}, {"mu", mu}, {"sigma", sigma}, {"q", std::move(q)}}}}));
  };
  const std::string remark = ": searched evenly within two deviations";
  EXPECT_EQ(at(normal("q_normal", 64, 16, 8), "hyperparameters.h"),
            R"({"maxval":96,"minval":32,"step":8,"type":"int"})");
  EXPECT_EQ(remark_on(normal("q_normal", 64, 16, 8), "hyperparameters.h"),
            "was a normal distribution around 64" + remark);
  EXPECT_EQ(at(normal("q_normal", 0, 0.5, 0.25), "hyperparameters.h"),
            R"({"maxval":1,"minval":-1,"step":0.25,"type":"double"})");
  EXPECT_EQ(at(normal("q_log_normal", 3, 1, 4), "hyperparameters.h"),
            R"({"maxval":148,"minval":4,"scale":"log","step":4,"type":"int"})");
  EXPECT_EQ(remark_on(normal("q_log_normal", 3, 1, 4), "hyperparameters.h"),
            "was a normal distribution around 3 of the logarithm" + remark);
  const auto nni = [](const char* type, Value::List values) {
    return at(imported(Value::Map{{"h", Value::Map{{"_type", type}, {"_value", std::move(values)}}}}),
              "hyperparameters.h");
  };
  EXPECT_EQ(nni("qnormal", {64, 16, 8}), R"({"maxval":96,"minval":32,"step":8.0,"type":"double"})");
  EXPECT_EQ(nni("qlognormal", {3, 1, 4}),
            R"({"maxval":148,"minval":4,"scale":"log","step":4.0,"type":"double"})");
}

struct Quantized {
  const char* name;
  Value::Map wandb;
  const char* range;
};

class WandbRange : public testing::TestWithParam<Quantized> {};

TEST_P(WandbRange, KeepsItsScaleAndItsSteps) {
  const ImportedExperiment made =
      imported(with(wandb_sweep(), "parameters", Value::Map{{"h", GetParam().wandb}}));
  EXPECT_EQ(at(made, "hyperparameters.h"), GetParam().range);
  EXPECT_EQ(remark_on(made, "hyperparameters.h"), "");
}

Value::Map quantized(const char* distribution, double min, double max, Value q) {
  return {{"distribution", distribution}, {"min", min}, {"max", max}, {"q", std::move(q)}};
}

INSTANTIATE_TEST_SUITE_P(
    Of, WandbRange,
    testing::Values(Quantized{"Widths", quantized("q_log_uniform_values", 16, 512, 16),
                              R"({"maxval":512,"minval":16,"scale":"log","step":16,"type":"int"})"},
                    Quantized{"EndsBetweenMultiples", quantized("q_log_uniform_values", 10, 100, 8),
                              R"({"maxval":96,"minval":16,"scale":"log","step":8,"type":"int"})"},
                    Quantized{"ALogarithmBelowOneStep", quantized("q_log_uniform_values", 0, 100, 8),
                              R"({"maxval":96,"minval":8,"scale":"log","step":8,"type":"int"})"},
                    Quantized{"StepsOfOne", quantized("q_log_uniform_values", 1, 64, 1),
                              R"({"maxval":64,"minval":1,"scale":"log","type":"int"})"},
                    Quantized{"Exponents", quantized("q_log_uniform", 0, 4, 1),
                              R"({"maxval":54,"minval":1,"scale":"log","type":"int"})"},
                    Quantized{"RealSteps", quantized("q_uniform", 0.05, 0.5, 0.1),
                              R"({"maxval":0.5,"minval":0.1,"step":0.1,"type":"double"})"},
                    Quantized{"OneMultiple", quantized("q_uniform", 0.1, 0.15, 0.1), "0.1"},
                    Quantized{"NoMultiple", quantized("q_uniform", 4, 6, 10), "0"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(OptunaSpace, IntegersStayOnTheirLogScale) {
  const Value space =
      Value::Map{{"w", Value::Map{{"type", "int"}, {"low", 4}, {"high", 64}, {"log", true}}},
                 {"lr", Value::Map{{"type", "float"}, {"low", 0.0}, {"high", 1.0}, {"log", true}}}};
  const ImportedExperiment made = imported(space);
  EXPECT_EQ(at(made, "hyperparameters.w"), R"({"maxval":64,"minval":4,"scale":"log","type":"int"})");
  EXPECT_EQ(at(made, "hyperparameters.lr"), R"({"maxval":1,"minval":0,"type":"double"})");
  EXPECT_EQ(remark_on(made, "hyperparameters.lr"),
            "was logarithmic, with an end that is not above 0: searched evenly");
}

TEST(ForeignFile, IsRefusedAsAnExperimentInOneSentence) {
  const std::string then = " (an experiment file; `hpsearch import FILE` makes one of it)\n";
  EXPECT_EQ(problems_of(wandb_sweep()), "is a W&B sweep" + then);
  EXPECT_EQ(problems_of(Value::Map{{"apiVersion", "kubeflow.org/v1beta1"}, {"kind", "Experiment"}}),
            "is a Katib experiment" + then);
  EXPECT_EQ(
      problems_of(Value::Map{{"apiVersion", "trainer.kubeflow.org/v1alpha1"}, {"kind", "OptimizationJob"}}),
      "is a Kubeflow OptimizationJob" + then);
  EXPECT_EQ(problems_of(nni_space()), "is an NNI search space" + then);
  EXPECT_EQ(problems_of(Value::Map{{"trialCommand", "x"}, {"searchSpaceFile", "s.json"}}),
            "is an NNI experiment" + then);
  EXPECT_EQ(problems_of(Value::Map{{"lr", Value::Map{{"type", "float"}, {"low", 0}, {"high", 1}}}}),
            "is a search space in Optuna's words" + then);
}

TEST(ForeignFile, IsNoExperimentOfOurs) {
  EXPECT_FALSE(foreign_file(small_experiment()));
  EXPECT_FALSE(foreign_file(Value::Map{{"name", "x"}}));
  EXPECT_FALSE(foreign_file(Value::Map{}));
  EXPECT_FALSE(foreign_file(Value(3)));
  EXPECT_FALSE(import_experiment(small_experiment()).problems.empty());
}

TEST(ForeignFile, WithRangesThatCannotBeReadIsRefused) {
  const auto message = [](const Value& tree) { return lines(import_experiment(tree).problems); };
  EXPECT_EQ(message(with(wandb_sweep(), "parameters.lr", Value::Map{{"distribution", "zipf"}})),
            "parameters.lr: is {\"distribution\":\"zipf\"} (a value, values, or a range)\n");
  EXPECT_EQ(message(with(nni_space(), "lr._type", "zipf")),
            "lr: is {\"_type\":\"zipf\",\"_value\":[0.0001,0.1]} (a parameter with _type and _value)\n");
  EXPECT_EQ(message(with(Value::Map{{"trialCommand", "x"}, {"searchSpace", nni_space()}},
                         "searchSpace.lr._type", "zipf")),
            "searchSpace.lr: is {\"_type\":\"zipf\",\"_value\":[0.0001,0.1]} (a parameter with _type and "
            "_value)\n");
}

}  // namespace
}  // namespace hpsearch::jobs

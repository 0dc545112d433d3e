#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/jobs/fields/remote_input.hpp"
#include "jobs/read_experiment.hpp"

namespace hpsearch::jobs {
namespace {

ParsedExperiment submit(const Value& tree) {
  return parse_submission(tree, test_registry(), "stem", 11);
}

std::string notes_of(const Value& tree) {
  ParsedExperiment parsed = submit(tree);
  EXPECT_EQ(lines(parsed.problems), "");
  // Notes about small or missing searches don't belong to the contract.
  std::erase_if(parsed.notes, [](const auto& note) {
    return note.what.starts_with("hold nothing to search") || note.path == "searcher.max_trials";
  });
  return lines(parsed.notes);
}

Value with_hyperparameters(Value::Map hyperparameters) {
  return with(small_experiment(), "hyperparameters", std::move(hyperparameters));
}

TEST(JobContract, IsReadWithItsChannelsAndStyles) {
  Value tree = with_hyperparameters(
      {{"amsgrad", Value::Map{{"type", "const"}, {"val", false}, {"bool_style", "int"}}},
       {"nesterov",
        Value::Map{{"type", "categorical"}, {"vals", Value::List{true, false}}, {"bool_style", "flag"}}}});
  tree = with(std::move(tree), "inputs",
              Value::Map{{"train", "/data/train"},
                         {"data_url", Value::Map{{"path", "/data"}, {"passed_as", "argument"}}}});
  tree = with(std::move(tree), "outputs",
              Value::Map{{"train_url", Value::Map{{"path", "/results"}, {"pre_download", true}}},
                         {"plots", Value::Map{}}});
  tree = with(std::move(tree), "pai", Value::Map{{"hps_json_values", "string"}});
  tree = with(std::move(tree), "layout", "/ml");
  tree = with(std::move(tree), "entrypoint", "python train.py {args}");
  const ParsedExperiment parsed = submit(tree);
  ASSERT_TRUE(parsed.config) << lines(parsed.problems);
  EXPECT_EQ(parsed.program.contract,
            (JobContract{.inputs = {{"data_url", "/data", PassedAs::argument}, {"train", "/data/train"}},
                         .outputs = {{"plots", ""}, {"train_url", "/results", PassedAs::channel, true}},
                         .bool_styles = {{"amsgrad", BoolStyle::integer}, {"nesterov", BoolStyle::flag}},
                         .pai_hps_strings = true,
                         .ml_layout = true}));
  EXPECT_EQ(notes_of(tree), "");
}

TEST(JobContract, UnknownPlaceholderIsRefusedAtSubmission) {
  Value tree = with_hyperparameters(
      {{"lr", 0.1},
       {"optimizer", Value::Map{{"momentum", 0.9}}},
       {"net", Value::Map{{"type", "categorical"}, {"vals", Value::List{Value::Map{{"depth", 3}}}}}}});
  tree = with(std::move(tree), "inputs", Value::Map{{"train", "/data"}});
  for (const char* good :
       {"p {lr} {optimizer.momentum} {optimizer} {net} {net.depth} {args}", "p {{word}} ${HOME} {} {1} { x }",
        "p {checkpoint_dir} {output_dir} {trial_id} {inputs.train} {outputs.model}", "awk '{print $1}'"}) {
    EXPECT_EQ(problems_of(with(tree, "entrypoint", good)), "") << good;
  }
  EXPECT_EQ(problems_of(with(tree, "entrypoint", "p {rl}")),
            "entrypoint: names {rl}; there is no such hyperparameter or placeholder (did you mean {lr}? "
            "literal braces are written {{ and }})\n");
  EXPECT_EQ(
      problems_of(with(tree, "entrypoint", "p {net.width}")),
      "entrypoint: names {net.width}; there is no such hyperparameter or placeholder (literal braces are "
      "written {{ and }})\n");
  EXPECT_EQ(
      problems_of(with(tree, "entrypoint", Value::List{"p", "{lr.min}"})),
      "entrypoint[1]: names {lr.min}; there is no such hyperparameter or placeholder (literal braces are "
      "written {{ and }})\n");
  EXPECT_EQ(
      problems_of(with(tree, "entrypoint", Value::List{"p", "--in={inputs.test}"})),
      "entrypoint[1]: names {inputs.test}; there is no such hyperparameter or placeholder (did you mean "
      "{inputs.train}? literal braces are written {{ and }})\n");
  const Value dotted = with_hyperparameters({{"optimizer.momentum", 0.9}, {"units.", 3}});
  EXPECT_EQ(problems_of(with(dotted, "entrypoint", "p {optimizer.momentum} {units.}")), "");
  EXPECT_EQ(
      problems_of(with(dotted, "entrypoint", "p {optimizer}")),
      "entrypoint: names {optimizer}; there is no such hyperparameter or placeholder (literal braces are "
      "written {{ and }})\n")
      << "a hyperparameter with a dot in its name is in no group";
  EXPECT_EQ(problems_of(with(tree, "entrypoint", Value::List{"p", "-- {args}"})),
            "entrypoint[1]: has {args}, inside a longer item (an item of its own: it becomes several)\n");
}

TEST(JobContract, PlaceholderOfAConditionalHyperparameterIsRefusedAtSubmission) {
  const auto sgd = [](Value::Map parameter) {
    parameter["when"] = Value::Map{{"optimizer", Value::List{"sgd", "nesterov"}}};
    return parameter;
  };
  const Value tree = with_hyperparameters(
      {{"optimizer", Value::Map{{"type", "categorical"}, {"vals", Value::List{"sgd", "nesterov", "adam"}}}},
       {"momentum", sgd({{"type", "double"}, {"minval", 0}, {"maxval", 1}})},
       {"lone", sgd({{"a", 1}, {"b", 2}})},
       {"both", Value::Map{{"a", 1}, {"b", sgd({{"type", "const"}, {"val", 2}})}}}});
  for (const char* good :
       {"p {args} {optimizer} {both} {both.a} # {momentum}", "p {args_json}", "p {args_eq}"}) {
    EXPECT_EQ(problems_of(with(tree, "entrypoint", good)), "") << good;
  }
  const std::string said =
      ", which a trial has only when optimizer is sgd or nesterov ({args}, {args_eq}, {args_no_hyphens} or "
      "{args_json}, which have what a trial has)\n";
  EXPECT_EQ(problems_of(with(tree, "entrypoint", "p {momentum}")), "entrypoint: names {momentum}" + said);
  EXPECT_EQ(problems_of(with(tree, "entrypoint", Value::List{"p", "--lone={lone}"})),
            "entrypoint[1]: names {lone}" + said);
  EXPECT_EQ(problems_of(with(tree, "entrypoint", "p {both.b}")), "entrypoint: names {both.b}" + said);
}

TEST(JobContract, MemberThatOnlySomeValuesHaveIsRefusedAtSubmission) {
  const auto net = [](Value::Map other) {
    return with(with_hyperparameters(
                    {{"net", Value::Map{{"type", "categorical"},
                                        {"vals", Value::List{Value::Map{{"a.b", 3}}, std::move(other)}}}}}),
                "entrypoint", "p {net.a.b}");
  };
  EXPECT_EQ(problems_of(net({{"a", Value::Map{{"b", 4}}}})), "");
  EXPECT_EQ(problems_of(net({{"depth", 3}})),
            "entrypoint: names {net.a.b}; not all values of net have this member (members of every value, or "
            "{net})\n");
}

TEST(JobContract, HasTheImagesAndMountsOfPrograms) {
  Value tree = with(small_experiment(), "source", "in_place");
  tree = with(std::move(tree), "environment",
              Value::Map{{"image", Value::Map{{"cpu", "python:3.11"}, {"cuda", "pytorch:2.1"}}},
                         {"force_pull_image", true}});
  tree =
      with(std::move(tree), "bind_mounts",
           Value::List{Value::Map{{"host_path", "/data"}, {"container_path", "data"}, {"read_only", true}}});
  const ParsedExperiment parsed = submit(tree);
  ASSERT_TRUE(parsed.config) << lines(parsed.problems);
  EXPECT_EQ(lines(parsed.notes), "");
  JobContract wanted;
  wanted.in_place = true;
  wanted.image = "python:3.11";
  wanted.gpu_image = "pytorch:2.1";
  wanted.pull_image = true;
  wanted.bind_mounts = {{"/data", "data", true}};
  EXPECT_EQ(parsed.program.contract, wanted);
  const ParsedExperiment again = submit(to_value(*parsed.config));
  ASSERT_TRUE(again.config) << lines(again.problems);
  EXPECT_EQ(again.program.contract, parsed.program.contract);
  for (const Value& image : {Value("python:3.11"), Value(Value::Map{{"cuda", "python:3.11"}})}) {
    const ParsedExperiment one =
        submit(with(small_experiment(), "environment", Value::Map{{"image", image}}));
    ASSERT_TRUE(one.config) << lines(one.problems);
    EXPECT_EQ(one.program.contract.image, "python:3.11");
    EXPECT_EQ(one.program.contract.gpu_image, "python:3.11");
  }
  EXPECT_NE(problems_of(with(small_experiment(), "environment", Value::Map{{"image", "--privileged"}})), "");
  EXPECT_NE(problems_of(with(small_experiment(), "source", "elsewhere")), "");
}

TEST(JobContract, TwoNamesWithOneVariableAreRefused) {
  EXPECT_EQ(problems_of(with_hyperparameters({{"test-model", 1}, {"test_model", 2}})),
            "hyperparameters.test_model: and hyperparameters.test-model would share the variable "
            "HPSEARCH_HP_TEST_MODEL (names that differ in more than capitals and punctuation)\n");
  EXPECT_EQ(
      problems_of(with_hyperparameters({{"a", Value::Map{{"b", 1}}}, {"a_b", 2}})),
      "hyperparameters.a_b: and hyperparameters.a.b would share the variable HPSEARCH_HP_A_B (names that "
      "differ in more than capitals and punctuation)\n");
  EXPECT_EQ(
      problems_of(with(small_experiment(), "outputs", Value::Map{{"Model", Value::Map{}}})),
      "outputs.Model: and outputs.model would share the variable PAI_OUTPUT_MODEL (names that differ in "
      "more than capitals and punctuation)\n");
}

TEST(JobContract, ChannelsNeedValidPaths) {
  const auto with_input = [](Value value) {
    return with(small_experiment(), "inputs", Value::Map{{"train", std::move(value)}});
  };
  const std::string allowed =
      " (an absolute path on the workers, or one below the context directory, without `..`; remote storage "
      "is "
      "mounted there first)\n";
  EXPECT_EQ(problems_of(with_input("data")), "");
  EXPECT_EQ(
      problems_of(with(small_experiment(), "outputs", Value::Map{{"train", "data"}})),
      "outputs.train: is \"data\" (an absolute path on the workers, without `..`; remote storage is mounted "
      "there first)\n");
  EXPECT_EQ(problems_of(with_input("s3://bucket/x/")), "inputs.train: is \"s3://bucket/x/\"" + allowed);
  EXPECT_EQ(problems_of(with_input("/data/../etc")), "inputs.train: is \"/data/../etc\"" + allowed);
  EXPECT_EQ(problems_of(with_input(Value::Map{{"passed_as", "argument"}})),
            "inputs.train: has no path" + allowed);
  EXPECT_EQ(problems_of(with_input(Value::Map{{"path", "/x"}, {"passed_as", "parameter"}})),
            "inputs.train.passed_as: is \"parameter\" (channel, argument or variable)\n");
  EXPECT_EQ(problems_of(with(small_experiment(), "inputs", Value::Map{{"../x", "/x"}})),
            "inputs.../x: has a name that no channel can have (1 to 64 of letters, digits, `_` and `-`, not "
            "beginning with `_`)\n");
  EXPECT_EQ(
      problems_of(with(small_experiment(), "outputs", Value::Map{{"w", Value::Map{{"pre_download", true}}}})),
      "outputs.w: is to be filled from the attempt before, but has no path (a path that all workers see, "
      "where attempts leave it)\n");
  EXPECT_EQ(problems_of(with(small_experiment(), "outputs", Value::Map{{"checkpoints", "/c"}})),
            "outputs.checkpoints: has a path (none: checkpoints go to checkpoint_storage)\n");
}

TEST(JobContract, ChannelPassedByNameNeedsAnUnusedName) {
  const auto as = [](const char* name, const char* passed_as) {
    return with(small_experiment(), "inputs",
                Value::Map{{name, Value::Map{{"path", "/x"}, {"passed_as", passed_as}}}});
  };
  EXPECT_NE(problems_of(as("PATH", "variable")).find("inputs.PATH: cannot be passed as the variable PATH"),
            std::string::npos);
  EXPECT_NE(problems_of(as("data-url", "variable")).find("cannot be passed as the variable"),
            std::string::npos);
  EXPECT_EQ(problems_of(as("data_url", "variable")), "");
  Value tree = with(as("lr", "argument"), "hyperparameters", Value::Map{{"lr", 1}});
  EXPECT_EQ(problems_of(tree),
            "inputs.lr: would be passed under the same name as hyperparameters.lr (two names)\n");
}

TEST(JobContract, PaiFormsRefuseNamesOnlyIfTheyAreUsed) {
  const Value tree = with_hyperparameters({{"layers", Value::List{64, 32}}, {"two words", 1}});
  EXPECT_EQ(notes_of(tree),
            "hyperparameters: left out of PAI's variables and hyperparameters.json, which cannot carry them: "
            "layers, two words; HPSEARCH_PARAMS has them\n");
  EXPECT_EQ(
      problems_of(with(tree, "entrypoint", "python train.py $PAI_USER_ARGS")),
      "hyperparameters.layers: can be [64,32] (numbers, texts and booleans: the entrypoint reads PAI's "
      "variables, which carry nothing else)\n"
      "hyperparameters.two words: has a name that PAI's forms cannot carry (1 to 64 of letters, digits, "
      "`_`, `-` and `.`, not beginning with `_`: the entrypoint reads PAI's variables)\n");
}

TEST(JobContract, InputsInObjectStoresNeedAnRcloneConfiguration) {
  const Value tree = with(small_experiment(), "inputs.train", "oss://bucket/x/");
  EXPECT_EQ(
      problems_of(tree),
      "inputs.train: is \"oss://bucket/x/\", and nothing tells workers how to fetch it "
      "(environment.environment_variables with RCLONE_CONFIG, the path of an rclone configuration that has "
      "a remote oss, or with RCLONE_CONFIG_OSS_TYPE and its kin; or a path on the workers)\n");
  const auto with_variable = [&](const char* name) {
    return problems_of(with(tree, "environment.environment_variables", Value::Map{{name, "x"}}));
  };
  EXPECT_EQ(with_variable("RCLONE_CONFIG"), "");
  EXPECT_EQ(with_variable("RCLONE_CONFIG_OSS_TYPE"), "");
  EXPECT_NE(with_variable("RCLONE_CONFIG_OBS_TYPE"), "") << "it is another remote";
  const RemoteInput file =
      remote_input("obs://b/d/a.csv", {{"RCLONE_CONFIG", "/c"}, {"RCLONE_X", "1"}, {"Y", "2"}});
  EXPECT_EQ(file.place, "obs:b/d/a.csv");
  EXPECT_EQ(file.file_name, "a.csv");
  EXPECT_EQ(file.configuration, "/c");
  EXPECT_EQ(file.variables, (std::map<std::string, std::string>{{"RCLONE_X", "1"}}));
  EXPECT_EQ(remote_input("oss://b/d/", {}).file_name, "");
}

TEST(JobContract, EveryFormOfArgumentsTakesLists) {
  const Value tree = with_hyperparameters({{"layers", Value::List{64, 32}}, {"lr", 0.1}});
  for (const char* form : {"{args}", "{args_eq}", "{args_no_hyphens}", "{args_json}", "--c={args_json}"}) {
    EXPECT_EQ(problems_of(with(tree, "entrypoint", std::string("python train.py ") + form)), "") << form;
    EXPECT_EQ(problems_of(with(tree, "entrypoint", Value::List{"train", form})), "") << form;
  }
  EXPECT_EQ(problems_of(with(tree, "entrypoint", "echo '{args_json}'")),
            "entrypoint: has {args_json} in line 1, inside single quotes (end the quotes before it, or use "
            "$HPSEARCH_PARAMS)\n");
}

/// A program whose output is only read gets no notice of a pause, so it can't resume.
TEST(JobContract, SearcherDoesNotPauseProgramsWhoseOutputIsRead) {
  const auto parsed_with = [](const Value& searcher_says, Value::Map others) {
    Value tree = small_experiment();
    Value::Map searcher{{"name", "adaptive_asha"}, {"metric", "loss"}, {"max_length", 9}, {"max_trials", 9}};
    if (!searcher_says.is_null()) {
      searcher["stop_once"] = searcher_says;
    }
    tree = with(tree, "searcher", std::move(searcher));
    for (auto& [name, value] : others) {
      tree = with(tree, name, value);
    }
    const ParsedExperiment parsed = submit(tree);
    EXPECT_EQ(lines(parsed.problems), "");
    const bool noted = lines(parsed.notes).find("searcher.stop_once: is set to true") != std::string::npos;
    EXPECT_TRUE(parsed.config &&
                parsed.config->searcher.stop_once == (noted || searcher_says == Value(true)));
    return noted;
  };
  const Value::Map listens{{"metrics", Value::Map{{"loss", "loss=(.*)"}}}};
  const auto also = [&](const char* name, Value value) {
    Value::Map all = listens;
    all[name] = std::move(value);
    return all;
  };
  EXPECT_TRUE(parsed_with(Value(), listens));
  EXPECT_FALSE(parsed_with(Value(), {}));
  EXPECT_FALSE(parsed_with(Value(false), listens)) << "it says that it goes on";
  EXPECT_FALSE(parsed_with(Value(true), listens));
  EXPECT_FALSE(parsed_with(Value(), also("min_checkpoint_period", 3)));
  EXPECT_FALSE(parsed_with(Value(), also("environment", Value::Map{{"checkpoint_signal", "SIGUSR1"}})));
}

TEST(JobContract, ModelArtsFormRefusesNamesThatItWouldSplit) {
  const Value tree = with_hyperparameters({{"a=b", 1}, {"lr", 0.1}});
  EXPECT_EQ(problems_of(with(tree, "entrypoint", "python train.py {args}")), "");
  EXPECT_EQ(problems_of(with(tree, "entrypoint", "python train.py {args_eq}")),
            "hyperparameters.a=b: has a name with `=` (one without: {args_eq} passes name=value, and would "
            "pass another name)\n");
}

TEST(JobContract, ZeroBytesAreRefusedEverywhere) {
  const std::string zero("a\0b", 3);
  const std::string allowed = " (text without one: no argument and no variable can hold it)\n";
  EXPECT_EQ(problems_of(with_hyperparameters({{"x", zero}})),
            "hyperparameters.x: holds a zero byte" + allowed);
  EXPECT_EQ(problems_of(with_hyperparameters({{zero, 1}})),
            "hyperparameters: has the name \"a\\u0000b\", which holds a zero byte" + allowed);
  EXPECT_EQ(problems_of(with_hyperparameters(
                {{"x", Value::Map{{"type", "categorical"}, {"vals", Value::List{1, zero}}}}})),
            "hyperparameters.x.vals[1]: holds a zero byte" + allowed);
  EXPECT_EQ(problems_of(with(small_experiment(), "searcher.metric", zero)),
            "searcher.metric: holds a zero byte" + allowed);
  EXPECT_EQ(problems_of(with(small_experiment(), "metrics", Value::Map{{"acc", "acc=(.*)" + zero}})),
            "metrics.acc: holds a zero byte" + allowed);
  EXPECT_EQ(problems_of(with(small_experiment(), "metrics", Value::Map{{zero, "acc=(.*)"}})),
            "metrics: has the name \"a\\u0000b\", which holds a zero byte" + allowed);
  EXPECT_EQ(problems_of(with(small_experiment(), "inputs", Value::Map{{"train", "/data/" + zero}})),
            "inputs.train: holds a zero byte" + allowed);
  EXPECT_EQ(problems_of(with(small_experiment(), "labels", Value::List{zero})),
            "labels[0]: holds a zero byte" + allowed);
  EXPECT_EQ(problems_of(with(small_experiment(), "resources", Value::Map{{"resource_pool", zero}})),
            "resources.resource_pool: holds a zero byte" + allowed);
  EXPECT_NE(problems_of(with(small_experiment(), "entrypoint", zero)), "");
  EXPECT_EQ(problems_of(with(small_experiment(), "data", Value::Map{{"note", zero}})), "");
  EXPECT_EQ(lines(parse_submission(small_experiment(), test_registry(), zero, 11).problems),
            "name: is \"a\\u0000b\" (one line of text)\n");
}

TEST(JobContract, ValuesTooLongForOneStringAreRefused) {
  EXPECT_EQ(
      problems_of(with_hyperparameters({{"x", std::string(1'000'000, 'x')}})),
      "hyperparameters: can take 1000011 bytes as JSON (at most 131055: one variable has to hold it)\n");
  const std::string long_text(131'072, 'x');
  for (const char* at : {"name", "searcher.metric", "environment.environment_variables.LONG", "data.note"}) {
    EXPECT_NE(problems_of(with(small_experiment(), at, long_text)).find(" bytes in the variable "),
              std::string::npos)
        << at;
  }
  EXPECT_NE(problems_of(with(small_experiment(), "entrypoint", "p " + long_text)).find("takes 131074 bytes"),
            std::string::npos);
}

TEST(JobContract, TooManyPlaceholdersAreRefused) {
  std::string line = "p";
  for (int i = 0; i < 1'001; ++i) {
    line += " {trial_id}";
  }
  EXPECT_EQ(problems_of(with(small_experiment(), "entrypoint", line)),
            "entrypoint: has 1001 times { (at most 1000; {args} stands for all hyperparameters)\n");
}

TEST(JobContract, HarnessRejectsOtherLaunchKinds) {
  const Value harness = with(small_experiment(), "entrypoint",
                             "python3 -m determined.launch.torch_distributed model_def:Trial");
  EXPECT_EQ(problems_of(harness).find("launch.kind"), std::string::npos);
  EXPECT_NE(problems_of(with(harness, "launch", Value::Map{{"kind", "pytorch"}}))
                .find("launch.kind: is \"pytorch\", and the entrypoint runs on the Determined harness"),
            std::string::npos);
}

TEST(JobContract, TerminalHasNoEffectWithTheHarness) {
  const Value tree = with(small_experiment(), "environment", Value::Map{{"terminal", true}});
  EXPECT_EQ(notes_of(tree).find("terminal"), std::string::npos);
  EXPECT_TRUE(read_experiment(tree).program.contract.terminal);
  const Value harness = with(tree, "entrypoint", "model_def:Trial");
  EXPECT_NE(notes_of(harness).find("environment.terminal: has no effect here"), std::string::npos);
  EXPECT_FALSE(read_experiment(harness).program.contract.terminal);
}

TEST(JobContract, BindMountPathsHaveNoParentDirectories) {
  const Value mount = Value::Map{{"host_path", "/data"}, {"container_path", "../../data"}};
  EXPECT_EQ(problems_of(with(small_experiment(), "bind_mounts", Value::List{mount})),
            "bind_mounts[0].container_path: is \"../../data\" (a path other than the working directory, "
            "without ..)\n");
}

TEST(JobContract, SearchedBooleansInArgumentsGetANote) {
  const Value::Map searched{{"type", "categorical"}, {"vals", Value::List{true, false}}};
  Value tree = with_hyperparameters({{"bias", searched}});
  EXPECT_EQ(notes_of(tree), "");
  tree = with(std::move(tree), "entrypoint", "python train.py {args}");
  EXPECT_NE(notes_of(tree).find("hyperparameters.bias: is searched and reaches the program as the argument"),
            std::string::npos);
  EXPECT_EQ(notes_of(with(tree, "hyperparameters.bias.bool_style", "flag")), "");
}

TEST(JobContract, BareUserArgumentsThatWouldBreakGetANote) {
  Value tree = with_hyperparameters({{"text", "a b"}});
  tree = with(std::move(tree), "entrypoint", "python train.py $PAI_USER_ARGS");
  EXPECT_NE(notes_of(tree).find("hyperparameters.text: can be \"a b\", which a bare $PAI_USER_ARGS"),
            std::string::npos);
  EXPECT_EQ(notes_of(with(tree, "entrypoint", R"(eval "python train.py $PAI_USER_ARGS")")), "");
  EXPECT_EQ(notes_of(with(tree, "hyperparameters.text", "a-b")), "");
}

TEST(JobContract, BoolStylesAreAllowedOnlyForBooleans) {
  const auto style = [](Value val, const char* word) {
    return with_hyperparameters(
        {{"x", Value::Map{{"type", "const"}, {"val", std::move(val)}, {"bool_style", word}}}});
  };
  EXPECT_EQ(problems_of(style(true, "yes")),
            "hyperparameters.x.bool_style: is \"yes\" (one of python, lower, int, flag, empty_false)\n");
  EXPECT_EQ(problems_of(style(1, "int")),
            "hyperparameters.x.bool_style: stands at a hyperparameter that is never true or false (no "
            "bool_style)\n");
}

TEST(JobContract, OneProcessPerSlotIsStartedForPytorchAndWithoutAContainer) {
  const auto launched = [](const char* kind) {
    return with(small_experiment(), "launch", Value::Map{{"kind", kind}, {"rank", "process"}});
  };
  EXPECT_EQ(problems_of(launched("pytorch")), "");
  EXPECT_EQ(problems_of(launched("mpi")),
            "launch.rank: is \"process\" and launch.kind is \"mpi\" (node; one process per slot is started "
            "for pytorch "
            "only)\n");
  EXPECT_EQ(problems_of(with(launched("pytorch"), "environment", Value::Map{{"image", "python:3.11"}})),
            "launch.rank: is \"process\" and environment.image is \"python:3.11\" (node; in a container one "
            "process is "
            "started, which may be torchrun)\n");
}

TEST(JobContract, RolesAreOnlyForTensorflowAndNeedAWorkerEach) {
  const auto with_roles = [](const char* kind, int slots, bool single_node = false) {
    return with(with(small_experiment(), "resources",
                     Value::Map{{"slots_per_trial", slots}, {"is_single_node", single_node}}),
                "launch", Value::Map{{"kind", kind}, {"roles", Value::Map{{"ps", 2}, {"evaluator", 1}}}});
  };
  EXPECT_EQ(problems_of(with_roles("tensorflow", 4)), "");
  EXPECT_EQ(problems_of(with_roles("tensorflow", 3)),
            "launch.roles: needs 4 workers with its chief, and resources.slots_per_trial is 3 (at least a "
            "slot for each "
            "of them)\n");
  EXPECT_EQ(
      problems_of(with_roles("tensorflow", 4, true)),
      "launch.roles: is set and resources.is_single_node is true (several workers: one for each role)\n");
  EXPECT_EQ(problems_of(with_roles("pytorch", 4)),
            "launch.roles: is set and launch.kind is \"pytorch\" (nothing; roles are tensorflow's)\n");
  EXPECT_NE(problems_of(with(small_experiment(), "launch",
                             Value::Map{{"kind", "tensorflow"}, {"roles", Value::Map{{"worker", 1}}}}))
                .find("launch.roles.worker"),
            std::string::npos);
}

TEST(JobContract, TheWorkersOwnModelArtsVariablesCannotBeSet) {
  EXPECT_NE(problems_of(with(small_experiment(), "environment.environment_variables",
                             Value::Map{{"MA_NUM_HOSTS", "4"}}))
                .find("sets MA_NUM_HOSTS"),
            std::string::npos);
}

}  // namespace
}  // namespace hpsearch::jobs

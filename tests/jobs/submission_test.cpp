#include <gtest/gtest.h>

#include "hpsearch/engine/config/search_doubts.hpp"
#include "jobs/read_experiment.hpp"

namespace hpsearch::jobs {
namespace {

TEST(ParseConfig, FillsInEveryDefault) {
  const ParsedExperiment parsed = accepted(small_experiment());
  EXPECT_EQ(parsed.config->name, "stem");
  EXPECT_EQ(std::get<std::string>(parsed.program.entrypoint.command), "python train.py");
  EXPECT_EQ(parsed.config->searcher.max_concurrent_trials, 16U);
  EXPECT_TRUE(parsed.config->searcher.smaller_is_better);
  EXPECT_EQ(parsed.config->searcher.max_length, Units{100});
  EXPECT_EQ(parsed.config->unit, "batches");
  EXPECT_EQ(parsed.program.harness.scheduling_unit, 100U);
  EXPECT_EQ(parsed.config->max_restarts, 5U);
  EXPECT_EQ(parsed.config->resources.slots_per_trial, 1U);
  EXPECT_EQ(parsed.config->resources.max_slots, std::nullopt);
  EXPECT_EQ(parsed.program.checkpoint_storage.type, "shared_fs");
  EXPECT_EQ(parsed.config->retention.save_trial_best, 1U);
  EXPECT_EQ(parsed.config->experiment_seed, 11U);
  EXPECT_EQ(parsed.config->min_validation_period, std::nullopt);
  EXPECT_EQ(parsed.program.data, Value(Value::Map{}));
}

TEST(ParseConfig, ReportsAllProblemsAtOnce) {
  const Value tree = Value::Map{
      {"entrypiont", "python train.py"},
      {"hyperparameters", Value::Map{{"lr", Value::Map{{"type", "log"}, {"minval", -1}, {"maxval", -4}}},
                                     {"units", Value::Map{{"type", "int"}, {"minval", 1}, {"maxvl", 9}}}}},
      {"max_restarts", -1},
      {"resources", Value::Map{{"slots_per_trial", 0.5}, {"priority", 100}, {"weight", 0}}},
      {"searcher", Value::Map{{"name", "random"}, {"max_trials", 0}, {"max_length", Value::Map{}}}},
  };
  EXPECT_EQ(problems_of(tree),
            "entrypiont: is not a known field (did you mean `entrypoint`?)\n"
            "hyperparameters.lr.maxval: is -4.0 (above minval, which is -1.0)\n"
            "hyperparameters.units.maxval: is missing (an integer)\n"
            "hyperparameters.units.maxvl: is not a field of a hyperparameter of this type (did you mean "
            "`maxval`?)\n"
            "max_restarts: is -1 (an integer from 0 to 2147483647)\n"
            "resources.priority: is 100 (an integer from 1 to 99)\n"
            "resources.slots_per_trial: is 0.5 (an integer of at least 0)\n"
            "resources.weight: is 0 (a number above 0)\n"
            "searcher.max_length: names no unit (exactly one unit, as {batches: 1000}, {records: 64000} or "
            "{epochs: "
            "10})\n"
            "searcher.max_trials: is 0 (an integer of at least 1)\n"
            "searcher.metric: is missing (the name of the validation metric that decides)\n");
}

TEST(ParseConfig, RejectsAnythingButAMap) {
  EXPECT_EQ(problems_of(Value(3)), "is 3 (a map: the fields of an experiment)\n");
  EXPECT_EQ(problems_of(Value()), "is null (a map: the fields of an experiment)\n");
}

TEST(ParseConfig, NullIsAbsent) {
  Value tree = small_experiment();
  for (const char* key :
       {"name", "description", "labels", "data", "records_per_epoch", "min_validation_period", "max_restarts",
        "resources", "checkpoint_storage", "environment", "reproducibility", "metrics", "budget", "launch",
        "bind_mounts", "profiling", "workspace", "project"}) {
    tree = with(std::move(tree), key, Value());
  }
  tree = with(std::move(tree), "searcher.source_trial_id", Value());
  tree = with(std::move(tree), "searcher.divisor", Value());  // A field of another searcher, but absent.
  const ParsedExperiment parsed = read_experiment(tree);
  EXPECT_EQ(lines(parsed.problems) + lines(parsed.notes), "");
}

// --- entrypoint and names ---

TEST(ParseConfig, RunsAListWithoutAShell) {
  const ParsedExperiment parsed =
      accepted(with(small_experiment(), "entrypoint", Value::List{"python", "train.py", "--epochs", 5}));
  EXPECT_EQ(std::get<std::vector<std::string>>(parsed.program.entrypoint.command),
            (std::vector<std::string>{"python", "train.py", "--epochs", "5"}));
}

TEST(ParseConfig, RejectsEntrypointsThatCannotStart) {
  EXPECT_EQ(problems_of(with(small_experiment(), "entrypoint", " ")),
            "entrypoint: is \" \" (a shell command)\n");
  EXPECT_EQ(problems_of(with(small_experiment(), "entrypoint", Value::List{})),
            "entrypoint: is [] (a shell command, or a list of words run without a shell)\n");
  EXPECT_EQ(
      problems_of(with(small_experiment(), "entrypoint", Value::List{"", 0.1, true, std::string("a\0b", 3)})),
      "entrypoint[0]: is \"\" (the program's name)\n"
      "entrypoint[1]: is 0.1 (a string; put it in quotes)\n"
      "entrypoint[2]: is true (a string; put it in quotes)\n"
      "entrypoint[3]: is \"a\\u0000b\" (a string; put it in quotes)\n");
}

TEST(ParseConfig, RecognizesProgramsForTheDeterminedHarness) {
  const auto harness = [](Value entrypoint, const char* kind = nullptr) {
    Value tree = with(small_experiment(), "entrypoint", std::move(entrypoint));
    if (kind != nullptr) {
      tree = with(std::move(tree), "launch", Value::Map{{"kind", kind}});
    }
    const ParsedExperiment parsed = read_experiment(tree);
    return parsed.config && parsed.program.needs_harness;
  };
  EXPECT_TRUE(harness("model_def:MNistTrial"));
  EXPECT_TRUE(harness("python3 -m determined.launch.torch_distributed python3 train.py"));
  EXPECT_TRUE(harness(Value::List{"python3", "-m", "determined.launch.torch_distributed", "--trial", "a:B"}));
  EXPECT_TRUE(harness("python3 train.py", "determined"));
  EXPECT_FALSE(harness("python3 train.py"));
  EXPECT_FALSE(harness("python3 train.py", "process"));
  EXPECT_FALSE(harness("python3 train.py model_def:MNistTrial"));
  EXPECT_FALSE(harness(Value::List{"python3", "-m"}));
}

TEST(ParseConfig, NotesFieldsThatOnlyTheHarnessReads) {
  Value tree = with(small_experiment(), "scheduling_unit", 7);
  tree = with(std::move(tree), "optimizations", Value::Map{{"aggregation_frequency", 2}});
  EXPECT_EQ(
      lines(read_experiment(tree).notes),
      "optimizations: has no effect here: only the Determined harness reads it, and it is started for "
      "launch.kind: "
      "determined\n"
      "scheduling_unit: has no effect here: only the Determined harness reads it, and it is started for "
      "launch.kind: determined\n");
  EXPECT_EQ(lines(read_experiment(with(tree, "entrypoint", "model_def:MNistTrial")).notes), "");
}

TEST(ParseConfig, RequiresWorkspaceAndProjectTogether) {
  EXPECT_EQ(problems_of(with(small_experiment(), "workspace", "w")),
            "project: is missing (workspace and project, or neither)\n");
  EXPECT_EQ(problems_of(with(small_experiment(), "project", "p")),
            "workspace: is missing (project and workspace, or neither)\n");
  EXPECT_EQ(accepted(with(with(small_experiment(), "project", "p"), "workspace", "w")).config->project, "p");
}

TEST(ParseConfig, RejectsNamesWithLineEnds) {
  EXPECT_EQ(problems_of(with(small_experiment(), "name", "a\nb")), "name: is \"a\\nb\" (one line of text)\n");
  EXPECT_EQ(problems_of(with(small_experiment(), "name", 7)), "name: is 7 (a string; put it in quotes)\n");
}

// --- booleans ---

TEST(ParseConfig, ReadsYesAndNoWhereABooleanBelongs) {
  EXPECT_FALSE(accepted(with(small_experiment(), "searcher.smaller_is_better", "No"))
                   .config->searcher.smaller_is_better);
  EXPECT_TRUE(accepted(with(small_experiment(), "searcher.smaller_is_better", "on"))
                  .config->searcher.smaller_is_better);
  EXPECT_EQ(problems_of(with(small_experiment(), "searcher.smaller_is_better", "maybe")),
            "searcher.smaller_is_better: is \"maybe\" (true or false)\n");
  const ParsedExperiment parsed = accepted(
      with(small_experiment(), "hyperparameters.flag", Value::Map{{"type", "const"}, {"val", "yes"}}));
  EXPECT_EQ(*parsed.config->space.sample(0, TrialNumber{0}).at_path("flag"), Value("yes"))
      << "text stays text elsewhere";
}

// --- sections without effect ---

struct Shape {
  const char* name;
  const char* path;
  Value value;
  const char* problems;
};

class ShapesWithoutEffect : public testing::TestWithParam<Shape> {};

TEST_P(ShapesWithoutEffect, AreCheckedAllTheSame) {
  EXPECT_EQ(problems_of(with(small_experiment(), GetParam().path, GetParam().value)), GetParam().problems);
}

INSTANTIATE_TEST_SUITE_P(
    Sections, ShapesWithoutEffect,
    testing::Values(
        Shape{"ShmSizeOfNoSize", "resources.shm_size", "lots",
              "resources.shm_size: is \"lots\" (bytes, or a size as 128M or 1.5G)\n"},
        Shape{"ShmSizeInGigabytes", "resources.shm_size", "1.5G", ""},
        Shape{"ShmSizeInBytes", "resources.shm_size", 1048576, ""},
        Shape{"MountWithoutHostPath", "bind_mounts", Value::List{Value::Map{{"container_path", "x"}}},
              "bind_mounts[0].host_path: is missing (an absolute path)\n"},
        Shape{"MountOverTheWorkingDirectory", "bind_mounts",
              Value::List{Value::Map{{"host_path", "/x"}, {"container_path", "."}}},
              "bind_mounts[0].container_path: is \".\" (a path other than the working directory, without "
              "..)\n"},
        Shape{"MountThatIsNoMap", "bind_mounts", Value::List{"x", nullptr},
              "bind_mounts[0]: is \"x\" (a map)\nbind_mounts[1]: is null (a map of host_path and "
              "container_path)\n"},
        Shape{"PolicyThatIsNone", "checkpoint_policy", "sometimes",
              "checkpoint_policy: is \"sometimes\" (best, all or none)\n"},
        Shape{"LaunchOfNoKind", "launch.kind", "torch",
              "launch.kind: is \"torch\" (did you mean `pytorch`? process, pytorch, tensorflow, xgboost, "
              "elastic_batch, mpi or determined)\n"},
        Shape{"BudgetWithoutEnd", "budget", Value::Map{{"max_slot_hours", 0}, {"max_tiem", "1h"}},
              "budget.max_slot_hours: is 0 (a number above 0)\nbudget.max_tiem: is not a known field (did "
              "you mean "
              "`max_time`?)\n"},
        Shape{"ChannelThatIsNoPath", "inputs.train", 3,
              "inputs.train: is 3 (a path, or a map of path and passed_as)\n"},
        Shape{"ProfilingThatIsNoMap", "profiling", true, "profiling: is true (a map)\n"},
        Shape{"ForcePullOfNoBoolean", "environment.force_pull_image", 1,
              "environment.force_pull_image: is 1 (true or false)\n"},
        Shape{"MetricsWithoutPattern", "metrics", Value::Map{{"acc", ""}},
              "metrics.acc: is \"\" (a metric's name, and a regular expression for it)\n"},
        Shape{"RecordsPerEpochBelowZero", "records_per_epoch", -1,
              "records_per_epoch: is -1 (an integer of at least 1)\n"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(Budget, ReadsLengthsOfTimeAsPeopleWriteThem) {
  const std::vector<std::pair<Value, double>> spellings = {
      {3600, 3600},    {0.5, 0.5},          {"90m", 5400},  {"1h 30m", 5400},
      {"1h30m", 5400}, {"2d", 2 * 86400.0}, {"1.5h", 5400}, {" 45s ", 45},
  };
  for (const auto& [spelling, seconds] : spellings) {
    const ParsedExperiment parsed =
        read_experiment(with(small_experiment(), "budget", Value::Map{{"max_time", spelling}}));
    ASSERT_TRUE(parsed.config) << compact_json(spelling) << lines(parsed.problems);
    EXPECT_EQ(parsed.config->budget.max_time->in_seconds(), seconds) << compact_json(spelling);
  }
  for (const Value& wrong :
       {Value(0), Value(-1), Value("90"), Value("m"), Value("1h 30"), Value("1w"), Value(""), Value("-3h"),
        Value(1e10), Value("0s"), Value(1e-7), Value("0.0000001s"), Value(true)}) {
    const ParsedExperiment parsed =
        read_experiment(with(small_experiment(), "budget", Value::Map{{"max_time", wrong}}));
    EXPECT_NE(lines(parsed.problems).find("budget.max_time: is " + compact_json(wrong)), std::string::npos)
        << compact_json(wrong) << lines(parsed.problems);
  }
}

TEST(Resources, NameThePoolAndTheLabelsOfTheirWorkers) {
  Value tree =
      with(small_experiment(), "resources",
           Value::Map{{"resource_pool", "big"}, {"labels", Value::Map{{"zone", "b"}, {"disk", "fast"}}}});
  const ParsedExperiment parsed = read_experiment(tree);
  ASSERT_TRUE(parsed.config) << lines(parsed.problems);
  EXPECT_TRUE(parsed.notes.empty()) << lines(parsed.notes);
  EXPECT_EQ(parsed.config->resources.resource_pool, "big");
  EXPECT_EQ(parsed.config->resources.labels,
            (std::map<std::string, std::string>{{"disk", "fast"}, {"zone", "b"}}));
  const ParsedExperiment again = read_experiment(to_value(*parsed.config));
  ASSERT_TRUE(again.config) << lines(again.problems);
  EXPECT_EQ(again.config->resources.labels, parsed.config->resources.labels);
  tree = with(small_experiment(), "resources", Value::Map{{"labels", Value::Map{{"zone", 3}}}});
  EXPECT_NE(lines(read_experiment(tree).problems).find("resources.labels.zone: is 3"), std::string::npos)
      << lines(read_experiment(tree).problems);
}

// The preview uses these three, so a note must not say that they have no effect.
TEST(ParseConfig, NotesTheEffectOfHarnessFieldsOnOtherPrograms) {
  Value tree = with(small_experiment(), "min_validation_period", 7);
  tree = with(std::move(tree), "min_checkpoint_period", 7);
  tree = with(std::move(tree), "checkpoint_policy", "none");
  EXPECT_EQ(
      lines(read_experiment(tree).notes),
      "checkpoint_policy: does not change whether the program saves checkpoints; preview assumes that it "
      "saves none\n"
      "min_checkpoint_period: does not change when the program saves checkpoints; it declares that the "
      "program continues from its checkpoint after a pause\n"
      "min_validation_period: does not change when the program validates; preview uses it as the time "
      "between validations\n");
  EXPECT_EQ(lines(read_experiment(with(tree, "entrypoint", "model_def:MNistTrial")).notes), "");
  EXPECT_EQ(lines(read_experiment(with(small_experiment(), "checkpoint_policy", "all")).notes),
            "checkpoint_policy: has no effect here: only the Determined harness reads it, and it is started "
            "for launch.kind: "
            "determined\n");
}

TEST(ParseConfig, NotesMaxSlotsBelowTheSlotsOfATrial) {
  const auto notes_of = [](std::int64_t most, std::int64_t slots) {
    Value tree = with(small_experiment(), "resources.max_slots", most);
    return lines(read_experiment(with(std::move(tree), "resources.slots_per_trial", slots)).notes);
  };
  EXPECT_EQ(notes_of(1, 2),
            "resources.max_slots: is 1, but a trial needs 2 (slots_per_trial): no trial starts until you "
            "raise it\n");
  EXPECT_EQ(notes_of(2, 2), "");
  EXPECT_EQ(notes_of(0, 0), "");
}

TEST(ParseConfig, NotesRangesWithoutAType) {
  const auto is_noted = [](Value value) {
    const std::string notes =
        lines(read_experiment(with(small_experiment(), "hyperparameters.n", std::move(value))).notes);
    return notes.find("has no type") != std::string::npos ||
           notes.find("another product") != std::string::npos;
  };
  const Value numbers = Value::List{1, 2};
  for (const Value::Map& range :
       {Value::Map{{"minval", 1}, {"maxval", 3}}, Value::Map{{"min", 1}, {"max", 3}},
        Value::Map{{"low", 1e-5}, {"high", 0.1}}, Value::Map{{"lower", 1}, {"upper", 3}},
        Value::Map{{"vals", numbers}}, Value::Map{{"values", numbers}}, Value::Map{{"choices", numbers}},
        Value::Map{{"distribution", "log_uniform_values"}, {"min", 1e-5}, {"max", 0.1}},
        Value::Map{{"_type", "loguniform"}, {"_value", numbers}}}) {
    EXPECT_TRUE(is_noted(range)) << engine::compact_json(range);
  }
  for (const Value::Map& group : {Value::Map{{"min", "a"}, {"max", "b"}}, Value::Map{{"values", 3}},
                                  Value::Map{{"vals", numbers}, {"lr", 1}}, Value::Map{{"min", 1}},
                                  Value::Map{{"type", "const"}, {"val", numbers}}}) {
    EXPECT_FALSE(is_noted(group)) << engine::compact_json(group);
  }
}

TEST(ParseConfig, NotesExponentsThatLookLikeValues) {
  const auto notes_of = [](double minval, double maxval) {
    const Value range = Value::Map{{"type", "log"}, {"minval", minval}, {"maxval", maxval}};
    return lines(read_experiment(with(small_experiment(), "hyperparameters.lr", range)).notes);
  };
  EXPECT_EQ(notes_of(0.0001, 0.1),
            "hyperparameters.lr: searches from 1.00023 to 1.25893: minval and maxval are exponents of 10 "
            "(minval: -4 and "
            "maxval: -1, or type: double with scale: log, to search from 0.0001 to 0.1)\n");
  EXPECT_NE(notes_of(1, 100), "") << "nobody wants 10^100";
  EXPECT_NE(notes_of(-20, 0), "");
  for (const auto& [minval, maxval] :
       {std::pair(-4.0, -1.0), {-6.0, 1.0}, {0.0, 1.0}, {0.5, 1.0}, {1.0, 4.0}}) {
    EXPECT_EQ(notes_of(minval, maxval), "") << minval << " to " << maxval;
  }
}

TEST(ParseConfig, NotesSearchesWithoutHyperparameters) {
  const auto notes_of = [](const char* metric, bool smaller) {
    const Value tree =
        with(with(small_experiment(), "searcher.metric", metric), "searcher.smaller_is_better", smaller);
    return lines(read_experiment(tree).notes);
  };
  EXPECT_EQ(
      notes_of("val_accuracy", true),
      "searcher.smaller_is_better: is true, and the search minimises \"val_accuracy\" (false, if larger "
      "values are better)\n");
  EXPECT_NE(notes_of("validation.loss", false), "");
  for (const auto& [metric, smaller] : {std::pair("val_accuracy", false),
                                        {"loss", true},
                                        {"lossless", false},
                                        {"error_score", true},
                                        {"throughput", true}}) {
    EXPECT_EQ(notes_of(metric, smaller), "") << metric;
  }
  const Value constant =
      with(with(small_experiment(), "hyperparameters", Value::Map{{"lr", 0.1}}), "searcher",
           Value::Map{{"name", "random"}, {"metric", "loss"}, {"max_length", 3}, {"max_trials", 50}});
  EXPECT_NE(lines(read_experiment(constant).notes).find("hold nothing to search: all 50 trials"),
            std::string::npos);
}

TEST(ParseConfig, UselessSearchNeedsConfirmation) {
  const auto confirms = [](const Value& tree) {
    const ParsedExperiment parsed = accepted(tree);
    return engine::doubts_to_confirm(*parsed.config).size();
  };
  EXPECT_EQ(confirms(small_experiment()), 0U);
  EXPECT_EQ(confirms(with(small_experiment(), "searcher.metric", "val_acc")), 1U) << "it is minimised";
  EXPECT_EQ(confirms(with(small_experiment(), "hyperparameters.lr",
                          Value::Map{{"type", "log"}, {"minval", 0.0001}, {"maxval", 0.1}})),
            1U)
      << "exponents that look like values";
  const Value searcher =
      Value::Map{{"name", "random"}, {"metric", "loss"}, {"max_length", 3}, {"max_trials", 50}};
  EXPECT_EQ(confirms(with(with(small_experiment(), "hyperparameters", Value::Map{{"lr", 0.1}}), "searcher",
                          searcher)),
            1U)
      << "nothing varies";
  const Value two = Value::Map{{"lr", Value::Map{{"type", "categorical"}, {"vals", Value::List{1, 2}}}}};
  EXPECT_EQ(confirms(with(with(small_experiment(), "hyperparameters", two), "searcher", searcher)), 0U)
      << "repeats are noted, not asked about";
}

TEST(ParseConfig, NotesPatternsThatReadOtherNumbers) {
  const auto notes_of = [](Value::Map patterns, std::int64_t length) {
    const Value searcher =
        Value::Map{{"name", "random"}, {"metric", "loss"}, {"max_length", length}, {"max_trials", 2}};
    return lines(
        read_experiment(with(with(small_experiment(), "searcher", searcher), "metrics", std::move(patterns)))
            .notes);
  };
  EXPECT_EQ(
      notes_of({{"loss", "loss: {number}"}}, 10),
      "metrics.loss: has no {step}: each line that it finds counts as one more unit of max_length, and a "
      "value that is printed once as the first ({step} where the number of the epoch stands; or "
      "max_length: 1)\n");
  EXPECT_EQ(notes_of({{"loss", "loss: {number}"}}, 1), "");
  EXPECT_EQ(notes_of({{"loss", "epoch {step} loss: {number}"}}, 10), "");
  EXPECT_EQ(notes_of({{"loss", "loss: {number}"}, {"val_loss", "val_loss: {number}"}}, 1),
            "metrics.loss: finds the number of val_loss too (\\b at the beginning of the pattern)\n");
  EXPECT_EQ(notes_of({{"loss", "\\bloss: {number}"}, {"val_loss", "val_loss: {number}"}}, 1), "");
}

TEST(ParseConfig, NotesAcceptedButUnlikelyValues) {
  const auto notes_of = [](std::string_view path, Value value) {
    return lines(read_experiment(with(small_experiment(), path, std::move(value))).notes);
  };
  EXPECT_EQ(
      notes_of("hyperparameters.lr", Value::Map{{"type", "log"}, {"base", 1}, {"minval", -4}, {"maxval", 0}}),
      "hyperparameters.lr.base: is 1, and so is every power of it: nothing varies\n");
  EXPECT_EQ(notes_of("hyperparameters.n", Value::Map{{"minval", 1}, {"maxval", 3}}),
            "hyperparameters.n: has no type: minval and maxval are hyperparameters of their own (type: int, "
            "double or log, with minval and maxval, to search between them)\n");
  EXPECT_NE(notes_of("environment", Value::Map{{"image", Value::Map{{"cpu", "img"}, {"cudaa", "img"}}}})
                .find("environment.image.cudaa: is \"img\", which has no effect: names of images stand under "
                      "cpu and cuda"),
            std::string::npos);
  EXPECT_EQ(notes_of("searcher.metric", "loss\n"),
            "searcher.metric: is \"loss\\n\", with what cannot be seen at its end: a program has to report "
            "it so\n");
}

TEST(SectionsWithoutEffect, AreKeptAndListed) {
  Value tree = with(small_experiment(), "launch", Value::Map{{"kind", "pytorch"}});
  tree = with(std::move(tree), "resources", Value::Map{{"shm_size", "1G"}, {"agent_label", "big"}});
  tree = with(std::move(tree), "min_checkpoint_period", 5);
  tree = with(std::move(tree), "checkpoint_storage", Value::Map{{"save_trial_best", 2}});
  const ParsedExperiment parsed = read_experiment(tree);
  ASSERT_TRUE(parsed.config) << lines(parsed.problems);
  std::string listed;
  for (const Problem& note : parsed.notes) {
    listed += note.path + " ";
    EXPECT_TRUE(note.what.starts_with("has no effect here") || note.what.starts_with("does not change"))
        << describe(note);
  }
  EXPECT_EQ(listed,
            "min_checkpoint_period "
            "resources.agent_label "
            "resources.shm_size ");
  EXPECT_EQ(*parsed.config->program.find("launch")->at_path("kind"), Value("pytorch"));
  EXPECT_EQ(*parsed.config->program.find("resources")->at_path("shm_size"), Value("1G"));
}

// --- the program's traits in the engine's configuration ---

TEST(ProgramTraits, RestartAfterAPauseFollowsFromOtherFields) {
  const auto begins_anew = [](const Value& tree) {
    return accepted(tree).config->program_traits.begins_anew;
  };
  EXPECT_FALSE(begins_anew(small_experiment()));
  EXPECT_TRUE(begins_anew(with(small_experiment(), "checkpoint_policy", "none")));
  const Value foreign = with(small_experiment(), "metrics", Value::Map{{"loss", "loss=([0-9.]+)"}});
  EXPECT_TRUE(begins_anew(foreign));
  EXPECT_FALSE(begins_anew(with(foreign, "environment.checkpoint_signal", "SIGUSR1")));
  EXPECT_FALSE(begins_anew(with(foreign, "min_checkpoint_period", 3)));
  EXPECT_FALSE(begins_anew(with(foreign, "entrypoint", "model_def:MnistTrial")));
}

TEST(ProgramTraits, DeterminedHarnessHasItsOwn) {
  EXPECT_FALSE(accepted(small_experiment()).config->program_traits.validates_on_demand);
  EXPECT_TRUE(accepted(with(small_experiment(), "entrypoint", "model_def:MnistTrial"))
                  .config->program_traits.validates_on_demand);
}

/// The launcher connects the processes; a Trial class on several slots is started by ssh.
TEST(SpansWorkers, LaunchKindDecides) {
  const auto spans = [](std::string_view path, Value value) {
    return accepted(with(small_experiment(), path, std::move(value))).config->resources.spans_workers;
  };
  EXPECT_FALSE(accepted(small_experiment()).config->resources.spans_workers);
  EXPECT_TRUE(spans("launch", Value::Map{{"kind", "pytorch"}}));
  EXPECT_FALSE(spans("launch", Value::Map{{"kind", "process"}}));
  EXPECT_FALSE(spans("entrypoint", "model_def:Trial"));
  EXPECT_FALSE(spans("entrypoint", Value::List{"python3", "-m", "determined.launch.horovod", "train.py"}));
  EXPECT_TRUE(spans("entrypoint", Value::List{"python3", "-m", "determined.launch.torch_distributed",
                                              "python3", "train.py"}));
  EXPECT_TRUE(spans("entrypoint", "python3 -m determined.launch.torch_distributed --trial model_def:Trial"));
  Value single = with(small_experiment(), "launch", Value::Map{{"kind", "pytorch"}});
  single = with(std::move(single), "resources.is_single_node", true);
  EXPECT_FALSE(accepted(single).config->resources.spans_workers);
}

TEST(SpansWorkers, EachRoleNeedsAWorker) {
  const Value launch = Value::Map{{"kind", "tensorflow"}, {"roles", Value::Map{{"ps", 1}, {"evaluator", 2}}}};
  Value tree = with(small_experiment(), "launch", launch);
  tree = with(std::move(tree), "resources.slots_per_trial", 4);
  EXPECT_EQ(accepted(tree).config->resources.least_workers, 4U);
}

TEST(Submission, EffectiveTreeIsReadUnchanged) {
  Value tree = with(small_experiment(), "metrics", Value::Map{{"loss", "loss=([0-9.]+)"}});
  tree = with(std::move(tree), "launch", Value::Map{{"kind", "pytorch"}});
  const ParsedExperiment parsed = accepted(tree);
  const engine::ParsedConfig stored =
      engine::parse_config(engine::to_value(*parsed.config), test_registry(), "", 0);
  ASSERT_TRUE(stored.config) << lines(stored.problems);
  EXPECT_EQ(engine::to_value(*stored.config), engine::to_value(*parsed.config));
  const Result<Program> program = read_program(engine::to_value(*stored.config), stored.config->space);
  ASSERT_TRUE(program);
  EXPECT_EQ(to_value(*program), to_value(parsed.program));
}

}  // namespace
}  // namespace hpsearch::jobs

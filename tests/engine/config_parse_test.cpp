#include <gtest/gtest.h>

#include "hpsearch/engine/config/remote_storage.hpp"

#include "engine/test_registry.hpp"
#include "hpsearch/engine/config/determined.hpp"

namespace hpsearch::engine {
namespace {

ExperimentConfig accepted(const Value& tree) {
  ParsedConfig parsed = read_config(tree);
  EXPECT_EQ(lines(parsed.problems), "");
  EXPECT_TRUE(parsed.config.has_value());
  return parsed.config ? std::move(*parsed.config) : ExperimentConfig{};
}

std::string problems_of(const Value& tree) {
  const ParsedConfig parsed = read_config(tree);
  EXPECT_EQ(parsed.config.has_value(), parsed.problems.empty());
  return lines(parsed.problems);
}

TEST(ParseConfig, FillsInEveryDefault) {
  const ExperimentConfig config = accepted(small_experiment());
  EXPECT_EQ(config.name, "stem");
  EXPECT_EQ(std::get<std::string>(config.entrypoint.command), "python train.py");
  EXPECT_EQ(config.searcher.max_concurrent_trials, 16U);
  EXPECT_TRUE(config.searcher.smaller_is_better);
  EXPECT_EQ(config.searcher.max_length, Units{100});
  EXPECT_EQ(config.unit, "batches");
  EXPECT_EQ(config.scheduling_unit, 100U);
  EXPECT_EQ(config.max_restarts, 5U);
  EXPECT_EQ(config.resources.slots_per_trial, 1U);
  EXPECT_EQ(config.resources.max_slots, std::nullopt);
  EXPECT_EQ(config.checkpoint_storage.type, "shared_fs");
  EXPECT_EQ(config.checkpoint_storage.retention.save_trial_best, 1U);
  EXPECT_EQ(config.experiment_seed, 11U);
  EXPECT_EQ(config.min_validation_period, std::nullopt);
  EXPECT_EQ(config.data, Value(Value::Map{}));
}

TEST(ParseConfig, TellsEverythingWrongAtOnce) {
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
            "entrypoint: is missing (a shell command, or a list of words run without a shell)\n"
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

TEST(ParseConfig, WantsAMap) {
  EXPECT_EQ(problems_of(Value(3)), "is 3 (a map: the fields of an experiment)\n");
  EXPECT_EQ(problems_of(Value()), "is null (a map: the fields of an experiment)\n");
}

TEST(ParseConfig, TakesNullAsAbsent) {
  Value tree = small_experiment();
  for (const char* key :
       {"name", "description", "labels", "data", "records_per_epoch", "min_validation_period", "max_restarts",
        "resources", "checkpoint_storage", "environment", "reproducibility", "metrics", "budget", "launch",
        "bind_mounts", "profiling", "workspace", "project"}) {
    tree = with(std::move(tree), key, Value());
  }
  tree = with(std::move(tree), "searcher.source_trial_id", Value());
  tree = with(std::move(tree), "searcher.divisor", Value());  // Not random's, but absent.
  const ParsedConfig parsed = read_config(tree);
  EXPECT_EQ(lines(parsed.problems) + lines(parsed.notes), "");
}

// --- entrypoint and names ---

TEST(ParseConfig, RunsAListWithoutAShell) {
  const ExperimentConfig config =
      accepted(with(small_experiment(), "entrypoint", Value::List{"python", "train.py", "--epochs", 5}));
  EXPECT_EQ(std::get<std::vector<std::string>>(config.entrypoint.command),
            (std::vector<std::string>{"python", "train.py", "--epochs", "5"}));
}

TEST(ParseConfig, RefusesEntrypointsThatCannotStart) {
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

TEST(ParseConfig, KnowsWhatIsWrittenForTheDeterminedHarness) {
  const auto harness = [](Value entrypoint, const char* kind = nullptr) {
    Value tree = with(small_experiment(), "entrypoint", std::move(entrypoint));
    if (kind != nullptr) {
      tree = with(std::move(tree), "launch", Value::Map{{"kind", kind}});
    }
    const ParsedConfig parsed = read_config(tree);
    return parsed.config && wants_determined_harness(*parsed.config);
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

TEST(ParseConfig, SaysWhatOnlyTheHarnessReads) {
  Value tree = with(small_experiment(), "scheduling_unit", 7);
  tree = with(std::move(tree), "optimizations", Value::Map{{"aggregation_frequency", 2}});
  EXPECT_EQ(lines(read_config(tree).notes),
            "optimizations: has no effect here: only the Determined harness reads it, and it is started for launch.kind: "
            "determined\n"
            "scheduling_unit: has no effect here: only the Determined harness reads it, and it is started for "
            "launch.kind: determined\n");
  EXPECT_EQ(lines(read_config(with(tree, "entrypoint", "model_def:MNistTrial")).notes), "");
}

TEST(ParseConfig, WantsWorkspaceAndProjectTogether) {
  EXPECT_EQ(problems_of(with(small_experiment(), "workspace", "w")),
            "project: is missing (workspace and project, or neither)\n");
  EXPECT_EQ(problems_of(with(small_experiment(), "project", "p")),
            "workspace: is missing (project and workspace, or neither)\n");
  EXPECT_EQ(accepted(with(with(small_experiment(), "project", "p"), "workspace", "w")).project, "p");
}

TEST(ParseConfig, RefusesNamesOfMoreThanOneLine) {
  EXPECT_EQ(problems_of(with(small_experiment(), "name", "a\nb")), "name: is \"a\\nb\" (one line of text)\n");
  EXPECT_EQ(problems_of(with(small_experiment(), "name", 7)), "name: is 7 (a string; put it in quotes)\n");
}

// --- booleans ---

TEST(ParseConfig, ReadsYesAndNoWhereABooleanBelongs) {
  EXPECT_FALSE(
      accepted(with(small_experiment(), "searcher.smaller_is_better", "No")).searcher.smaller_is_better);
  EXPECT_TRUE(
      accepted(with(small_experiment(), "searcher.smaller_is_better", "on")).searcher.smaller_is_better);
  EXPECT_EQ(problems_of(with(small_experiment(), "searcher.smaller_is_better", "maybe")),
            "searcher.smaller_is_better: is \"maybe\" (true or false)\n");
  const ExperimentConfig config = accepted(
      with(small_experiment(), "hyperparameters.flag", Value::Map{{"type", "const"}, {"val", "yes"}}));
  EXPECT_EQ(*config.space.sample(0, TrialNumber{0}).at_path("flag"), Value("yes"))
      << "text stays text elsewhere";
}

// --- lengths ---

struct LengthCase {
  const char* name;
  Value max_length;
  Value period;
  Value records_per_epoch;
  Value global_batch_size;
  const char* unit;
  std::uint64_t expected_length;
  std::uint64_t expected_period;  // 0 = off
};

class Lengths : public testing::TestWithParam<LengthCase> {};

Value lengths_tree(const Value& max_length, const Value& period, const Value& records_per_epoch,
                   const Value& global_batch_size) {
  Value tree = with(small_experiment(), "searcher.max_length", max_length);
  tree = with(std::move(tree), "min_validation_period", period);
  tree = with(std::move(tree), "records_per_epoch", records_per_epoch);
  return global_batch_size.is_null()
             ? tree
             : with(std::move(tree), "hyperparameters.global_batch_size", global_batch_size);
}

TEST_P(Lengths, AreTurnedIntoTheUnitOfMaxLength) {
  const LengthCase& one = GetParam();
  const ExperimentConfig config =
      accepted(lengths_tree(one.max_length, one.period, one.records_per_epoch, one.global_batch_size));
  EXPECT_EQ(config.unit, one.unit);
  EXPECT_EQ(count(config.searcher.max_length), one.expected_length);
  EXPECT_EQ(config.min_validation_period ? count(*config.min_validation_period) : 0, one.expected_period);
}

Value batches(int n) {
  return Value::Map{{"batches", n}};
}
Value records(int n) {
  return Value::Map{{"records", n}};
}
Value epochs(int n) {
  return Value::Map{{"epochs", n}};
}

INSTANTIATE_TEST_SUITE_P(
    Units, Lengths,
    testing::Values(
        LengthCase{"Bare", 100, 10, {}, {}, "batches", 100, 10},
        LengthCase{"BareIsInTheUnitOfMaxLength", epochs(10), 2, {}, {}, "epochs", 10, 2},
        LengthCase{
            "OwnWord", Value::Map{{"steps", 500}}, Value::Map{{"steps", 50}}, {}, {}, "steps", 500, 50},
        LengthCase{"OwnWordAndBare", Value::Map{{"steps", 500}}, 50, {}, {}, "steps", 500, 50},
        LengthCase{"Singular", Value::Map{{"epoch", 3}}, epochs(1), {}, {}, "epochs", 3, 1},
        LengthCase{"EpochsToBatches", batches(1000), epochs(2), 1000, 64, "batches", 1000, 31},
        LengthCase{"BatchesToEpochsFloor", epochs(5), batches(47), 1000, 64, "epochs", 5, 3},
        LengthCase{"NeverFromSomethingToNothing", epochs(5), batches(1), 1000, 64, "epochs", 5, 1},
        LengthCase{"RecordsToBatches", batches(100), records(639), {}, 64, "batches", 100, 9},
        LengthCase{"BatchesToRecords", records(6400), batches(3), {}, 64, "records", 6400, 192},
        LengthCase{"RecordsToEpochs", epochs(4), records(2500), 1000, 64, "epochs", 4, 2},
        LengthCase{"ConstParameterAsBatchSize", batches(100), epochs(1), 640,
                   Value::Map{{"type", "const"}, {"val", 64}}, "batches", 100, 10},
        LengthCase{"ZeroIsOff", epochs(4), batches(0), {}, {}, "epochs", 4, 0},
        LengthCase{"PrintedZeroOfRecordsPerEpoch", epochs(4), {}, 0, {}, "epochs", 4, 0}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(LengthProblems, NameWhatIsMissing) {
  EXPECT_EQ(problems_of(lengths_tree(batches(10), epochs(1), {}, 64)),
            "min_validation_period: is in epochs, the experiment counts batches, and records_per_epoch is "
            "missing (set "
            "records_per_epoch, or give every length in one unit)\n");
  EXPECT_EQ(problems_of(lengths_tree(batches(10), epochs(1), 100, {})),
            "min_validation_period: is in epochs, the experiment counts batches, and "
            "hyperparameters.global_batch_size "
            "is missing (set it, or give every length in one unit)\n");
  EXPECT_EQ(problems_of(lengths_tree(batches(10), epochs(1), 100,
                                     Value::Map{{"type", "categorical"}, {"vals", Value::List{32, 64}}})),
            "min_validation_period: is in epochs, the experiment counts batches, and "
            "hyperparameters.global_batch_size "
            "is not one positive integer (make it a constant, or give every length in one unit)\n");
  EXPECT_EQ(
      problems_of(lengths_tree(records(10), {}, {}, {})),
      "searcher.max_length: is in records, and hyperparameters.global_batch_size is missing (records need "
      "hyperparameters.global_batch_size; or use another word, as {samples: 1000})\n");
  EXPECT_EQ(
      problems_of(lengths_tree(epochs(10), Value::Map{{"steps", 5}}, 100, 64)),
      "min_validation_period: is in steps, but searcher.max_length is in epochs (a bare number, or the same "
      "unit; only batches, records and epochs convert)\n");
}

TEST(LengthProblems, RefuseWhatIsNoLength) {
  EXPECT_EQ(problems_of(lengths_tree(0, {}, {}, {})),
            "searcher.max_length: is 0 (an integer of at least 1, or that with its unit, as {epochs: 10})\n");
  EXPECT_EQ(problems_of(lengths_tree(Value::Map{{"batches", 1}, {"epochs", 2}}, {}, {}, {})),
            "searcher.max_length: names 2 units (exactly one unit, as {batches: 1000}, {records: 64000} or "
            "{epochs: "
            "10})\n");
  EXPECT_EQ(problems_of(lengths_tree(epochs(-1), {}, {}, {})),
            "searcher.max_length.epochs: is -1 (an integer of at least 1)\n");
  EXPECT_EQ(problems_of(lengths_tree(Value::Map{{"two words", 1}}, {}, {}, {})),
            "searcher.max_length: has the unit \"two words\" (a word of letters, digits and _)\n");
  EXPECT_EQ(problems_of(lengths_tree(Value(std::int64_t{9223372036854775807}), epochs(2000000000),
                                     Value(std::int64_t{9000000000000000000}), 1)),
            "min_validation_period: is more than 2^63 batches (a shorter length)\n");
}

TEST(LengthNotes, AskAboutUnitsThatLookMistyped) {
  const ParsedConfig parsed = read_config(lengths_tree(Value::Map{{"epocs", 3}}, {}, {}, {}));
  ASSERT_TRUE(parsed.config);
  EXPECT_EQ(lines(parsed.notes),
            "searcher.max_length.epocs: taken as a unit of its own; did you mean `epochs`?\n");
}

// --- searcher ---

TEST(SearcherSection, ReadsTheFieldsOfItsKind) {
  Value tree = small_experiment();
  tree = with(std::move(tree), "searcher",
              Value::Map{{"name", "adaptive_asha"},
                         {"metric", "val.acc"},
                         {"smaller_is_better", false},
                         {"max_length", epochs(81)},
                         {"max_trials", 50},
                         {"max_concurrent_trials", 0},
                         {"mode", "conservative"},
                         {"divisor", 3},
                         {"max_rungs", 4},
                         {"bracket_rungs", Value::List{3, 1}},
                         {"stop_once", true},
                         {"on_duplicate", "reject"}});
  const SearcherConfig searcher = accepted(tree).searcher;
  EXPECT_EQ(searcher.goal(), Goal::maximize);
  EXPECT_EQ(searcher.max_concurrent_trials, 0U);
  EXPECT_EQ(searcher.mode, AshaMode::conservative);
  EXPECT_EQ(searcher.divisor, 3.0);
  EXPECT_EQ(searcher.max_rungs, 4U);
  EXPECT_EQ(searcher.bracket_rungs, (std::vector<std::uint64_t>{3, 1}));
  EXPECT_TRUE(searcher.stop_once);
  EXPECT_EQ(searcher.on_duplicate, OnDuplicate::reject);
}

TEST(SearcherSection, WantsWhatItsKindNeedsAndNothingElse) {
  EXPECT_EQ(problems_of(with(small_experiment(), "searcher.max_trials", Value())),
            "searcher.max_trials: is missing (an integer of at least 1; random needs it)\n");
  EXPECT_EQ(problems_of(with(with(small_experiment(), "searcher.name", "grid"), "searcher.divisor", 3)),
            "searcher.divisor: means nothing to a grid search (leave it out)\n"
            "searcher.max_trials: means nothing to a grid search (leave it out)\n");
  EXPECT_EQ(problems_of(with(small_experiment(), "searcher.max_trails", 3)),
            "searcher.max_trails: is not a known field (did you mean `max_trials`?)\n");
}

TEST(SearcherSection, RefusesBadNumbers) {
  Value tree = with(small_experiment(), "searcher.name", "adaptive_asha");
  tree = with(std::move(tree), "searcher.divisor", 1);
  tree = with(std::move(tree), "searcher.bracket_rungs", Value::List{0, 2, 1'000'000'000});
  tree = with(std::move(tree), "searcher.mode", "fast");
  tree = with(std::move(tree), "searcher.on_duplicate", "rejct");
  EXPECT_EQ(problems_of(tree),
            "searcher.bracket_rungs[0]: is 0 (an integer from 1 to 1000)\n"
            "searcher.bracket_rungs[2]: is 1000000000 (an integer from 1 to 1000)\n"
            "searcher.divisor: is 1 (a number above 1)\n"
            "searcher.mode: is \"fast\" (aggressive, conservative or standard)\n"
            "searcher.on_duplicate: is \"rejct\" (did you mean `reject`? allow or reject)\n");
}

TEST(SearcherSection, NamesSuccessorsOfSearchersThatAreGone) {
  const std::string rest = "; there are adaptive_asha, annealing, async_halving, grid, random or single)\n";
  for (const char* gone : {"adaptive", "adaptive_simple"}) {
    EXPECT_EQ(problems_of(with(small_experiment(), "searcher.name", gone)),
              "searcher.name: is \"" + std::string(gone) +
                  "\", which is not a searcher here (say adaptive_asha" + rest);
  }
  EXPECT_EQ(problems_of(with(small_experiment(), "searcher.name", "sync_halving")),
            "searcher.name: is \"sync_halving\", which is not a searcher here (say async_halving" + rest);
  EXPECT_EQ(problems_of(with(small_experiment(), "searcher.name", "randm")),
            "searcher.name: is \"randm\", which is not a searcher here (did you mean `random`? there are "
            "adaptive_asha, "
            "annealing, async_halving, grid, random or single)\n");
}

TEST(SearcherSection, LetsTheKindHaveTheLastWord) {
  Value tree = with(small_experiment(), "searcher",
                    Value::Map{{"name", "single"}, {"metric", "loss"}, {"max_length", 10}});
  EXPECT_EQ(problems_of(tree), "hyperparameters.lr: is a range (a constant)\n");
  EXPECT_EQ(problems_of(with(tree, "name", 3)),
            "hyperparameters.lr: is a range (a constant)\nname: is 3 (a string; put it in quotes)\n")
      << "asked although something else is wrong";
  EXPECT_EQ(accepted(with(tree, "hyperparameters.lr", 0.1)).searcher.name, "single");
}

TEST(SearcherSection, KeepsFieldsOnlyTheKindUnderstands) {
  Value tree = with(small_experiment(), "searcher.name", "annealing");
  tree = with(std::move(tree), "searcher.cooling", 0.9);
  const ExperimentConfig config = accepted(tree);
  ASSERT_NE(config.accepted.at_path("searcher.cooling"), nullptr);
  EXPECT_EQ(*config.accepted.at_path("searcher.cooling"), Value(0.9));
}

TEST(SearcherSection, ChecksPointsAgainstTheSpace) {
  const Value points =
      Value::List{Value::Map{{"lr", 0.01}}, Value::Map{{"lr", 5}}, Value::Map{{"rate", 0.01}}, 3};
  EXPECT_EQ(problems_of(with(small_experiment(), "searcher.points_to_evaluate", points)),
            "searcher.points_to_evaluate[1].lr: is 5.0 (a number from 0.0001 to 0.1)\n"
            "searcher.points_to_evaluate[2].lr: is missing (a value)\n"
            "searcher.points_to_evaluate[2].rate: is not a hyperparameter of this experiment\n"
            "searcher.points_to_evaluate[3]: is 3 (a map of hyperparameters)\n");
}

TEST(SearcherSection, CompletesPointsWithConstants) {
  Value tree = with(small_experiment(), "hyperparameters.batch", 64);
  tree = with(std::move(tree), "searcher.points_to_evaluate", Value::List{Value::Map{{"lr", 0.01}}});
  EXPECT_EQ(accepted(tree).searcher.points_to_evaluate.at(0), Value(Value::Map{{"batch", 64}, {"lr", 0.01}}));
}

TEST(SearcherSection, IsNeeded) {
  Value::Map tree = small_experiment();
  tree.erase("searcher");
  EXPECT_EQ(problems_of(tree),
            "searcher: is missing (a map of name, metric, max_length and what the searcher needs)\n");
  EXPECT_EQ(problems_of(with(tree, "searcher", "random")), "searcher: is \"random\" (a map)\n");
}

// --- spellings users are known to confuse ---

TEST(Confusions, AreUnderstoodAndNoted) {
  Value tree = with(small_experiment(), "hyperparameters.opt",
                    Value::Map{{"type", "categorical"}, {"val", Value::List{"sgd", "adam"}}});
  tree = with(std::move(tree), "searcher.name", "adaptive_asha");
  tree = with(std::move(tree), "searcher.mode", "agressive");
  tree = with(std::move(tree), "resource", Value::Map{{"slots_per_trial", 2}});
  tree = with(std::move(tree), "environment",
              Value::Map{{"experiment_seed", 5}, {"registrt_auth", Value::Map{}}});
  const ParsedConfig parsed = read_config(tree);
  ASSERT_TRUE(parsed.config) << lines(parsed.problems);
  EXPECT_EQ(parsed.config->searcher.mode, AshaMode::aggressive);
  EXPECT_EQ(parsed.config->resources.slots_per_trial, 2U);
  EXPECT_EQ(parsed.config->experiment_seed, 5U);
  EXPECT_EQ(lines(parsed.notes),
            "environment.experiment_seed: read as `reproducibility.experiment_seed`\n"
            "environment.registrt_auth: read as `registry_auth`\n"
            "environment.registrt_auth: has no effect here: the container runtime's own login on each worker counts\n"
            "hyperparameters.opt.val: read as `vals`\n"
            "resource: read as `resources`\n"
            "searcher.mode: read as `aggressive`\n");
  EXPECT_EQ(*to_value(*parsed.config).at_path("hyperparameters.opt.vals"), Value(Value::List{"sgd", "adam"}));
}

TEST(Confusions, TakeASeedAtTopLevel) {
  EXPECT_EQ(accepted(with(small_experiment(), "experiment_seed", 9)).experiment_seed, 9U);
  Value tree = with(small_experiment(), "experiment_seed", 9);
  EXPECT_EQ(accepted(with(tree, "reproducibility.experiment_seed", 9)).experiment_seed, 9U);
  EXPECT_EQ(problems_of(with(tree, "reproducibility.experiment_seed", 8)),
            "experiment_seed: is 9, but elsewhere 8 (one seed, at reproducibility.experiment_seed)\n");
}

TEST(Confusions, DoNotHideWhichOfTwoCounts) {
  Value tree = with(small_experiment(), "resource", Value::Map{{"slots_per_trial", 2}});
  tree = with(std::move(tree), "resources", Value::Map{{"slots_per_trial", 3}});
  EXPECT_EQ(problems_of(tree), "resource: stands beside `resources`, which means the same (one of them)\n");
}

// --- seed ---

TEST(Seed, IsTheGivenOneOrTheRecordedOne) {
  EXPECT_EQ(accepted(with(small_experiment(), "reproducibility.experiment_seed", 2147483647)).experiment_seed,
            2147483647U);
  EXPECT_EQ(problems_of(
                with(small_experiment(), "reproducibility.experiment_seed", Value(std::int64_t{2147483648}))),
            "reproducibility.experiment_seed: is 2147483648 (an integer from 0 to 2147483647)\n");
  const ParsedConfig wide = parse_config(small_experiment(), test_registry(), "", ~std::uint64_t{0});
  EXPECT_EQ(wide.config->experiment_seed, 2147483647U);
}

// --- environment ---

TEST(Environment, TakesVariablesInEveryForm) {
  const auto variables = [](const Value& value) {
    return accepted(with(small_experiment(), "environment.environment_variables", value))
        .environment_variables;
  };
  using Variables = std::map<std::string, std::string>;
  EXPECT_EQ(variables(Value::List{"A=1", "B=x=y", "C="}), (Variables{{"A", "1"}, {"B", "x=y"}, {"C", ""}}));
  EXPECT_EQ(variables(Value::Map{{"A", "1"}, {"B", 2}, {"C", nullptr}, {"cpu", "x"}}),
            (Variables{{"A", "1"}, {"B", "2"}, {"cpu", "x"}}));
  EXPECT_EQ(variables(Value::Map{
                {"cpu", Value::List{"A=1"}}, {"cuda", Value::List{"A=1", "B=2"}}, {"rocm", Value::List{}}}),
            (Variables{{"A", "1"}, {"B", "2"}}));
}

TEST(Environment, KeepsTheCheckpointSignal) {
  const ExperimentConfig config =
      accepted(with(small_experiment(), "environment.checkpoint_signal", Value("SIGUSR1")));
  EXPECT_EQ(*config.accepted.at_path("environment.checkpoint_signal"), Value("SIGUSR1"));
  const auto again = parse_config(to_value(config), test_registry(), "", 0);
  ASSERT_TRUE(again.config);
  EXPECT_EQ(*again.config->accepted.at_path("environment.checkpoint_signal"), Value("SIGUSR1"));
  EXPECT_NE(problems_of(with(small_experiment(), "environment.checkpoint_signal", Value("SIGKILL")))
                .find("environment.checkpoint_signal"),
            std::string::npos);
}

TEST(Environment, RefusesNamesThatAreTaken) {
  const std::string allowed =
      " (any name but the loader's (LD_…) and the worker's own (HPSEARCH_…, DET_…, PAI_…, "
      "CUDA_VISIBLE_DEVICES and its "
      "kin))\n";
  EXPECT_EQ(problems_of(with(
                small_experiment(), "environment.environment_variables",
                Value::List{"LD_PRELOAD=x", "HPSEARCH_LENGTH=1", "DET_MASTER=x", "CUDA_VISIBLE_DEVICES=0"})),
            "environment.environment_variables[0]: sets LD_PRELOAD" + allowed +
                "environment.environment_variables[1]: sets HPSEARCH_LENGTH" + allowed +
                "environment.environment_variables[2]: sets DET_MASTER" + allowed +
                "environment.environment_variables[3]: sets CUDA_VISIBLE_DEVICES" + allowed);
}

TEST(Environment, RefusesWhatIsNoVariable) {
  EXPECT_EQ(
      problems_of(with(small_experiment(), "environment.environment_variables",
                       Value::List{"A", "1A=2", "=x", 3, std::string("B=a\0b", 5)})),
      "environment.environment_variables[0]: is \"A\" (NAME=VALUE)\n"
      "environment.environment_variables[1]: has the name \"1A\" (letters, digits and _, not starting with a "
      "digit)\n"
      "environment.environment_variables[2]: has the name \"\" (letters, digits and _, not starting with a "
      "digit)\n"
      "environment.environment_variables[3]: is 3 (NAME=VALUE)\n"
      "environment.environment_variables[4]: holds a zero byte (text)\n");
  EXPECT_EQ(
      problems_of(with(small_experiment(), "environment.environment_variables", Value::Map{{"A", true}})),
      "environment.environment_variables.A: is true (a string; put it in quotes)\n");
  EXPECT_EQ(problems_of(with(small_experiment(), "environment.environment_variables",
                             Value::Map{{"cpu", Value::List{"A=1"}}, {"cuda", Value::List{"A=2"}}})),
            "environment.environment_variables.cuda[0]: gives A another value than a list above it (one "
            "value for all "
            "kinds of devices: they are not told apart here)\n");
}

TEST(Environment, LetsTheLastOfTwoValuesCountAndSaysSo) {
  const ParsedConfig parsed =
      read_config(with(small_experiment(), "environment.environment_variables", Value::List{"A=1", "A=2"}));
  ASSERT_TRUE(parsed.config);
  EXPECT_EQ(parsed.config->environment_variables.at("A"), "2");
  EXPECT_EQ(lines(parsed.notes),
            "environment.environment_variables[1]: sets A again: the last value counts\n");
}

// --- checkpoint storage ---

TEST(CheckpointStorage, TakesAPathBelowTheHostPath) {
  const auto storage_path = [](const char* host, const char* path) {
    return accepted(with(small_experiment(), "checkpoint_storage",
                         Value::Map{{"type", "shared_fs"}, {"host_path", host}, {"storage_path", path}}))
        .checkpoint_storage.storage_path;
  };
  EXPECT_EQ(storage_path("/data", "a/b"), "a/b");
  EXPECT_EQ(storage_path("/data", "/data/a/b"), "a/b");
  EXPECT_EQ(storage_path("/data/", "/data"), "");
  EXPECT_EQ(storage_path("/", "/a"), "a");
  EXPECT_EQ(storage_path("/data", "..a"), "..a") << "only a whole name climbs";
}

TEST(CheckpointStorage, RefusesPathsThatLeadElsewhere) {
  const auto wrong = [](const char* host, const char* path) {
    return problems_of(with(small_experiment(), "checkpoint_storage",
                            Value::Map{{"host_path", host}, {"storage_path", path}}));
  };
  EXPECT_EQ(wrong("/data", "../x"),
            "checkpoint_storage.storage_path: is \"../x\" (a path without `..`, below host_path)\n");
  EXPECT_EQ(wrong("/data", "a/../../x"),
            "checkpoint_storage.storage_path: is \"a/../../x\" (a path without `..`, below host_path)\n");
  EXPECT_EQ(wrong("/data", "/database"),
            "checkpoint_storage.storage_path: is \"/database\" (a path below host_path, /data)\n");
  EXPECT_EQ(wrong("", "/x"),
            "checkpoint_storage.storage_path: is \"/x\" (a path below host_path, which is missing)\n");
  EXPECT_EQ(wrong("data", ""), "checkpoint_storage.host_path: is \"data\" (an absolute path without `..`)\n");
}

TEST(CheckpointStorage, ChecksTheOtherKinds) {
  const auto storage = [](Value value) {
    return with(small_experiment(), "checkpoint_storage", std::move(value));
  };
  const ParsedConfig s3 =
      read_config(storage(Value::Map{{"type", "s3"}, {"bucket", "b"}, {"prefix", "p/q"}}));
  ASSERT_TRUE(s3.config) << lines(s3.problems);
  EXPECT_EQ(s3.config->checkpoint_storage.host_path, "");
  EXPECT_EQ(lines(s3.notes), "");
  EXPECT_EQ(
      problems_of(storage(Value::Map{{"type", "s3"}, {"prefix", "../p"}, {"region", "x"}})),
      "checkpoint_storage.bucket: is missing (the name of the bucket)\n"
      "checkpoint_storage.prefix: is \"../p\" (a path without `..`)\n"
      "checkpoint_storage.region: is not a known field (one of access_key, bucket, endpoint_url, prefix, "
      "save_experiment_best, save_trial_best, save_trial_latest, secret_key or type)\n");
  EXPECT_EQ(
      problems_of(storage(Value::Map{{"type", "azure"}, {"container", "c"}})),
      "checkpoint_storage.connection_string: is missing, and so is account_url (one of connection_string and "
      "account_url)\n");
  EXPECT_EQ(problems_of(storage(Value::Map{{"type", "gcs"}})),
            "checkpoint_storage.bucket: is missing (the name of the bucket)\n");
  EXPECT_EQ(problems_of(storage(Value::Map{{"type", "s4"}})),
            "checkpoint_storage.type: is \"s4\" (did you mean `s3`? shared_fs, s3, gcs or azure)\n");
}

TEST(CheckpointStorage, IsDescribedToRclone) {
  const auto remote = [](Value value) {
    return remote_storage(*read_config(with(small_experiment(), "checkpoint_storage", std::move(value))).config);
  };
  EXPECT_FALSE(remote(Value::Map{{"type", "shared_fs"}}));
  const auto s3 = remote(Value::Map{{"type", "s3"}, {"bucket", "b"}, {"prefix", "/p/q/"}, {"access_key", "a"},
                                    {"secret_key", "s"}, {"endpoint_url", "http://127.0.0.1:9"}});
  ASSERT_TRUE(s3);
  EXPECT_EQ(s3->root, "s3://b/p/q");
  EXPECT_EQ(s3->environment.at("RCLONE_CONFIG_HPSEARCH_ENDPOINT"), "http://127.0.0.1:9");
  EXPECT_EQ(s3->environment.at("RCLONE_CONFIG_HPSEARCH_SECRET_ACCESS_KEY"), "s");
  EXPECT_EQ(s3->environment.at("RCLONE_CONFIG_HPSEARCH_ENV_AUTH"), "false");
  EXPECT_EQ(rclone_place(s3->root + "/7/0/1-9"), "hpsearch:b/p/q/7/0/1-9");
  EXPECT_TRUE(is_remote(s3->root));
  EXPECT_FALSE(is_remote("/data"));
  const auto own_keys = remote(Value::Map{{"type", "s3"}, {"bucket", "b"}});
  EXPECT_EQ(own_keys->environment.at("RCLONE_CONFIG_HPSEARCH_ENV_AUTH"), "true");
  EXPECT_EQ(remote(Value::Map{{"type", "gcs"}, {"bucket", "b"}})->root, "gs://b");
  const auto azure = remote(Value::Map{
      {"type", "azure"}, {"container", "c"}, {"connection_string", "AccountName=n;AccountKey=k==;X=y"}});
  EXPECT_EQ(azure->root, "azure://c");
  EXPECT_EQ(azure->environment.at("RCLONE_CONFIG_HPSEARCH_ACCOUNT"), "n");
  EXPECT_EQ(azure->environment.at("RCLONE_CONFIG_HPSEARCH_KEY"), "k==");
  const auto url = remote(
      Value::Map{{"type", "azure"}, {"container", "c"}, {"account_url", "https://n.blob.core.windows.net"}});
  EXPECT_EQ(url->environment.at("RCLONE_CONFIG_HPSEARCH_ACCOUNT"), "n");
}

// --- sections without effect here ---

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
              "bind_mounts[0].container_path: is \".\" (a path other than the working directory, without ..)\n"},
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
        Shape{"ChannelThatIsNoPath", "inputs.train", 3, "inputs.train: is 3 (a path, or a map of path and passed_as)\n"},
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
      {3600, 3600},     {0.5, 0.5},          {"90m", 5400},  {"1h 30m", 5400},
      {"1h30m", 5400},  {"2d", 2 * 86400.0}, {"1.5h", 5400}, {" 45s ", 45},
  };
  for (const auto& [spelling, seconds] : spellings) {
    const ParsedConfig parsed = read_config(with(small_experiment(), "budget", Value::Map{{"max_time", spelling}}));
    ASSERT_TRUE(parsed.config) << compact_json(spelling) << lines(parsed.problems);
    EXPECT_EQ(parsed.config->budget.max_time->in_seconds(), seconds) << compact_json(spelling);
  }
  for (const Value& wrong : {Value(0), Value(-1), Value("90"), Value("m"), Value("1h 30"), Value("1w"), Value(""),
                             Value("-3h"), Value(1e10), Value("0s"), Value(true)}) {
    const ParsedConfig parsed = read_config(with(small_experiment(), "budget", Value::Map{{"max_time", wrong}}));
    EXPECT_NE(lines(parsed.problems).find("budget.max_time: is " + compact_json(wrong)), std::string::npos)
        << compact_json(wrong) << lines(parsed.problems);
  }
}

TEST(Resources, NameThePoolAndTheLabelsOfTheirWorkers) {
  Value tree = with(small_experiment(), "resources",
                    Value::Map{{"resource_pool", "big"}, {"labels", Value::Map{{"zone", "b"}, {"disk", "fast"}}}});
  const ParsedConfig parsed = read_config(tree);
  ASSERT_TRUE(parsed.config) << lines(parsed.problems);
  EXPECT_TRUE(parsed.notes.empty()) << lines(parsed.notes);
  EXPECT_EQ(parsed.config->resources.resource_pool, "big");
  EXPECT_EQ(parsed.config->resources.labels, (std::map<std::string, std::string>{{"disk", "fast"}, {"zone", "b"}}));
  const ParsedConfig again = read_config(to_value(*parsed.config));
  ASSERT_TRUE(again.config) << lines(again.problems);
  EXPECT_EQ(again.config->resources.labels, parsed.config->resources.labels);
  tree = with(small_experiment(), "resources", Value::Map{{"labels", Value::Map{{"zone", 3}}}});
  EXPECT_NE(lines(read_config(tree).problems).find("resources.labels.zone: is 3"), std::string::npos)
      << lines(read_config(tree).problems);
}

TEST(SectionsWithoutEffect, AreKeptAndListed) {
  Value tree = with(small_experiment(), "launch", Value::Map{{"kind", "pytorch"}});
  tree = with(std::move(tree), "resources", Value::Map{{"shm_size", "1G"}, {"agent_label", "big"}});
  tree = with(std::move(tree), "min_checkpoint_period", 5);
  tree = with(std::move(tree), "checkpoint_storage", Value::Map{{"save_trial_best", 2}});
  const ParsedConfig parsed = read_config(tree);
  ASSERT_TRUE(parsed.config) << lines(parsed.problems);
  std::string listed;
  for (const Problem& note : parsed.notes) {
    listed += note.path + " ";
    EXPECT_NE(note.what.find("has no effect here"), std::string::npos) << describe(note);
  }
  EXPECT_EQ(listed,
            "min_checkpoint_period "
            "resources.agent_label "
            "resources.shm_size ");
  EXPECT_EQ(*parsed.config->accepted.at_path("launch.kind"), Value("pytorch"));
  EXPECT_EQ(*parsed.config->accepted.at_path("resources.shm_size"), Value("1G"));
}

}  // namespace
}  // namespace hpsearch::engine

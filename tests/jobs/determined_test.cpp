// Experiment files as Determined 0.24 reads and prints them.
#include <gtest/gtest.h>

#include <algorithm>

#include "hpsearch/searchers/registry.hpp"
#include "jobs/read_experiment.hpp"

namespace hpsearch::jobs {
namespace {

// An experiment as Determined prints it: with every section and every default, nulls included.
Value printed_experiment() {
  const auto image = Value::Map{{"cpu", "img:cpu"}, {"cuda", "img:cuda"}, {"rocm", "img:rocm"}};
  const auto variables =
      Value::Map{{"cpu", Value::List{"A=1"}}, {"cuda", Value::List{"A=1"}}, {"rocm", Value::List{}}};
  return Value::Map{
      {"bind_mounts", Value::List{Value::Map{{"host_path", "/data"},
                                             {"container_path", "/data"},
                                             {"propagation", "rprivate"},
                                             {"read_only", true}}}},
      {"checkpoint_policy", "best"},
      {"checkpoint_storage", Value::Map{{"type", "shared_fs"},
                                        {"host_path", "/tmp/checkpoints"},
                                        {"storage_path", nullptr},
                                        {"container_path", nullptr},
                                        {"checkpoint_path", nullptr},
                                        {"tensorboard_path", nullptr},
                                        {"propagation", "rprivate"},
                                        {"save_experiment_best", 0},
                                        {"save_trial_best", 1},
                                        {"save_trial_latest", 1}}},
      {"data", Value::Map{{"url", "https://example.org/mnist.tar.gz"}}},
      {"debug", false},
      {"description", "mnist"},
      {"entrypoint", "python3 -m determined.launch.torch_distributed python3 train.py"},
      {"environment", Value::Map{{"add_capabilities", Value::List{}},
                                 {"drop_capabilities", Value::List{}},
                                 {"environment_variables", variables},
                                 {"force_pull_image", false},
                                 {"image", image},
                                 {"pod_spec", nullptr},
                                 {"ports", Value::Map{}},
                                 {"proxy_ports", Value::List{}},
                                 {"registry_auth", nullptr}}},
      {"hyperparameters",
       Value::Map{
           {"global_batch_size", Value::Map{{"type", "const"}, {"val", 64}}},
           {"learning_rate",
            Value::Map{{"type", "log"}, {"base", 10}, {"minval", -4}, {"maxval", 0}, {"count", nullptr}}},
           {"n_filters", Value::Map{{"type", "int"}, {"minval", 8}, {"maxval", 64}, {"count", nullptr}}},
           {"net", Value::Map{{"dropout", Value::Map{{"type", "double"}, {"minval", 0.2}, {"maxval", 0.8}}},
                              {"activation", Value::Map{{"type", "categorical"},
                                                        {"vals", Value::List{"relu", "tanh"}}}}}}}},
      {"internal", nullptr},
      {"labels", Value::List{"a", "b"}},
      {"max_restarts", 5},
      {"min_checkpoint_period", Value::Map{{"batches", 0}}},
      {"min_validation_period", Value::Map{{"batches", 0}}},
      {"name", "mnist_pytorch"},
      {"optimizations", Value::Map{{"aggregation_frequency", 1},
                                   {"auto_tune_tensor_fusion", false},
                                   {"average_aggregated_gradients", true},
                                   {"average_training_metrics", true},
                                   {"grad_updates_size_file", nullptr},
                                   {"gradient_compression", false},
                                   {"mixed_precision", "O0"},
                                   {"tensor_fusion_cycle_time", 1},
                                   {"tensor_fusion_threshold", 64}}},
      {"pbs", Value::Map{}},
      {"perform_initial_validation", false},
      {"profiling",
       Value::Map{
           {"begin_on_batch", 0}, {"enabled", false}, {"end_after_batch", nullptr}, {"sync_timings", true}}},
      {"project", ""},
      {"records_per_epoch", 0},
      {"reproducibility", Value::Map{{"experiment_seed", 1606239866}}},
      {"resources", Value::Map{{"agent_label", ""},
                               {"devices", Value::List{}},
                               {"max_slots", nullptr},
                               {"native_parallel", false},
                               {"priority", nullptr},
                               {"resource_pool", "default"},
                               {"shm_size", nullptr},
                               {"slots_per_trial", 1},
                               {"weight", 1}}},
      {"scheduling_unit", 100},
      {"searcher", Value::Map{{"bracket_rungs", Value::List{}},
                              {"divisor", 4},
                              {"max_concurrent_trials", 16},
                              {"max_length", Value::Map{{"batches", 937}}},
                              {"max_rungs", 5},
                              {"max_trials", 16},
                              {"metric", "validation_loss"},
                              {"mode", "standard"},
                              {"name", "adaptive_asha"},
                              {"smaller_is_better", true},
                              {"source_checkpoint_uuid", nullptr},
                              {"source_trial_id", nullptr},
                              {"stop_once", false}}},
      {"slurm", Value::Map{}},
      {"tensorboard_storage", nullptr},
      {"workspace", ""},
  };
}

TEST(DeterminedFile, IsAcceptedAsPrinted) {
  const ParsedExperiment parsed = read_experiment(printed_experiment());
  EXPECT_EQ(lines(parsed.problems), "");
  ASSERT_TRUE(parsed.config);
  EXPECT_EQ(parsed.config->name, "mnist_pytorch");
  EXPECT_EQ(parsed.config->experiment_seed, 1606239866U);
  EXPECT_EQ(parsed.config->searcher.max_length, Units{937});
  EXPECT_EQ(parsed.config->space.leaves().size(), 5U);
  EXPECT_EQ(parsed.program.environment.environment_variables,
            (std::map<std::string, std::string>{{"A", "1"}}));
  EXPECT_EQ(parsed.program.checkpoint_storage.host_path, "/tmp/checkpoints");
}

TEST(DeterminedFile, NotesEverySectionWithoutEffect) {
  std::string listed;
  for (const Problem& note : read_experiment(printed_experiment()).notes) {
    listed += note.path + "\n";
  }
  EXPECT_EQ(listed,
            "checkpoint_storage.propagation\n"
            "environment.environment_variables.cpu\n"
            "environment.environment_variables.cuda\n"
            "environment.image\n"
            "records_per_epoch\n");
}

TEST(DeterminedFile, IsReadInItsShorterForms) {
  const Value tree = Value::Map{
      {"name", "fashion"},
      {"entrypoint", "model_def:FashionTrial"},
      {"records_per_epoch", 60000},
      {"hyperparameters", Value::Map{{"global_batch_size", 32}, {"dense1", 128}}},
      {"searcher", Value::Map{{"name", "single"},
                              {"metric", "val_accuracy"},
                              {"smaller_is_better", false},
                              {"max_length", Value::Map{{"epochs", 5}}}}},
      {"min_validation_period", Value::Map{{"batches", 3750}}},
      {"environment", Value::Map{{"image", "img"}, {"environment_variables", Value::List{"X=1"}}}},
      {"checkpoint_storage", Value::Map{{"type", "gcs"}, {"bucket", "b"}}},
      {"slurm", Value::Map{{"sbatch_args", Value::List{"--time=1"}}}},
      {"debug", true},
      {"tensorboard_storage", Value::Map{{"type", "shared_fs"}}},
  };
  const ParsedExperiment parsed = read_experiment(tree);
  ASSERT_TRUE(parsed.config) << lines(parsed.problems);
  EXPECT_EQ(parsed.config->unit, "epochs");
  EXPECT_EQ(parsed.config->min_validation_period, Units{2});
}

TEST(DeterminedFile, EffectiveFormIsReadUnchanged) {
  const ParsedExperiment parsed = read_experiment(printed_experiment());
  ASSERT_TRUE(parsed.config);
  const Value effective = to_value(*parsed.config);
  EXPECT_EQ(*effective.at_path("environment.image.cuda"), Value("img:cuda"));
  EXPECT_EQ(*effective.at_path("optimizations.mixed_precision"), Value("O0"));
  const ParsedExperiment again = read_experiment(effective);
  ASSERT_TRUE(again.config) << lines(again.problems);
  EXPECT_EQ(to_value(*again.config), effective);
}

// --- files of 0.24 with other names than here, and files of other versions ---

Value searched_by(Value::Map searcher) {
  searcher["metric"] = "loss";
  return Value::Map{{"entrypoint", "model_def:T"}, {"searcher", std::move(searcher)}};
}

Value single() {
  return searched_by({{"name", "single"}, {"max_length", Value::Map{{"batches", 100}}}});
}

TEST(DeterminedFile, AcceptsSlotsForSlotsPerTrial) {
  const ParsedExperiment parsed = accepted(with(single(), "resources.slots", 4));
  EXPECT_EQ(parsed.config->resources.slots_per_trial, 4U);
  EXPECT_EQ(lines(parsed.notes), "resources.slots: read as `slots_per_trial`\n");
  EXPECT_EQ(accepted(with(single(), "resource.slots", 3)).config->resources.slots_per_trial, 3U);
  EXPECT_EQ(accepted(with(with(single(), "resources.slots", 2), "resources.slots_per_trial", 2))
                .config->resources.slots_per_trial,
            2U);
  EXPECT_EQ(problems_of(with(with(single(), "resources.slots", 2), "resources.slots_per_trial", 1)),
            "resources.slots: is 2, and slots_per_trial is 1 (one of them)\n");
}

TEST(DeterminedFile, AbsoluteStoragePathBecomesTheHostPath) {
  for (const Value& host : {Value(), Value("")}) {
    const Value tree = with(single(), "checkpoint_storage",
                            Value::Map{{"type", "shared_fs"}, {"host_path", host}, {"storage_path", "ckpt"}});
    EXPECT_EQ(accepted(tree).program.checkpoint_storage.host_path, "");
    const ParsedExperiment absolute = accepted(with(tree, "checkpoint_storage.storage_path", "/data/ckpt"));
    EXPECT_EQ(absolute.program.checkpoint_storage.host_path, "/data/ckpt");
    EXPECT_EQ(absolute.program.checkpoint_storage.storage_path, "");
    EXPECT_EQ(lines(absolute.notes),
              "checkpoint_storage.storage_path: is absolute, and host_path is empty: read as host_path: "
              "/data/ckpt\n");
  }
}

TEST(DeterminedFile, AcceptsOptionsOfBatchSystemsInEnvironment) {
  const ParsedExperiment parsed = accepted(
      with(with(single(), "environment.slurm", Value::List{"--time=1"}), "environment.pbs", Value::List{}));
  EXPECT_EQ(lines(parsed.notes),
            "environment.slurm: has no effect here: programs are started by this program's own workers\n");
}

TEST(DeterminedFile, SearchesAdaptively) {
  const ParsedExperiment parsed =
      accepted(searched_by({{"name", "adaptive"}, {"max_length", 100}, {"max_trials", 7}}));
  EXPECT_EQ(parsed.config->searcher.name, "adaptive_asha");
  EXPECT_EQ(lines(parsed.notes),
            "hyperparameters: hold nothing to search: all 7 trials run the same "
            "configuration, with different seeds (at least one with a type: int, double, "
            "log or categorical)\nsearcher.name: read as `adaptive_asha`\n");
}

TEST(DeterminedFile, OlderVersionsGetTheFieldToWrite) {
  EXPECT_EQ(
      problems_of(with(searched_by({{"name", "adaptive_simple"}, {"max_steps", 10}, {"max_trials", 3}}),
                       "batches_per_step", 50)),
      "batches_per_step: is a field of Determined before 0.13 (write scheduling_unit: 50)\n"
      "searcher.max_steps: is a field of Determined before 0.13 (write max_length: {batches: 500}, which "
      "is 10 steps of 50 batches)\n"
      "searcher.name: is \"adaptive_simple\", a searcher of Determined before 0.13 (write name: "
      "adaptive_asha)\n");
  EXPECT_EQ(problems_of(searched_by({{"name", "single"}, {"max_steps", 10}})),
            "searcher.max_steps: is a field of Determined before 0.13 (write max_length: {batches: 1000}, "
            "which is 10 steps of 100 batches)\n");
  EXPECT_EQ(
      problems_of(searched_by({{"name", "adaptive"},
                               {"max_length", 64},
                               {"budget", Value::Map{{"batches", 600}}},
                               {"train_stragglers", true}})),
      "searcher.budget: is a field of Determined before 0.13 (write max_trials: the number of trials)\n");
  EXPECT_EQ(problems_of(searched_by({{"name", "adaptive"}, {"target_trial_steps", 9}, {"step_budget", 90}})),
            "searcher.step_budget: is a field of Determined before 0.13 (write max_trials: the number of "
            "trials)\n"
            "searcher.target_trial_steps: is a field of Determined before 0.13 (write max_length: {batches: "
            "900}, which is 9 steps of 100 batches)\n");
}

TEST(DeterminedFile, LaterVersionsGetTheFieldToWrite) {
  EXPECT_EQ(
      problems_of(searched_by(
          {{"name", "adaptive_asha"}, {"max_trials", 3}, {"max_time", 27}, {"time_metric", "epochs"}})),
      "searcher.max_time: is a field of Determined from 0.38 on (write max_length: {epochs: 27} in place "
      "of max_time and time_metric)\n");
  EXPECT_EQ(problems_of(searched_by({{"name", "random"}, {"max_trials", 3}, {"max_time", 27}})),
            "searcher.max_time: is a field of Determined from 0.38 on (write max_length: {batches: 27})\n");
}

TEST(DeterminedFile, RunsOneConfigurationOfARange) {
  const Value range = Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", 9}};
  const ParsedExperiment parsed =
      parse_submission(with(single(), "hyperparameters.width", range), searchers::registry(), "stem", 11);
  ASSERT_TRUE(parsed.config) << lines(parsed.problems);
  EXPECT_EQ(lines(parsed.notes),
            "hyperparameters: hold ranges, and a single search runs one configuration: it is drawn from them "
            "(random or grid as searcher.name, to try several)\n");
}

TEST(DeterminedFile, ConstantMapCanHaveAType) {
  const Value adam = Value::Map{{"type", "adam"}, {"lr", 0.1}};
  const ParsedExperiment parsed =
      accepted(with(single(), "hyperparameters.optimizer", Value::Map{{"type", "const"}, {"val", adam}}));
  EXPECT_EQ(*to_value(*parsed.config).at_path("hyperparameters.optimizer.val.type"), Value("adam"));
  EXPECT_EQ(accepted(to_value(*parsed.config)).config->space.sample(1, TrialNumber(0)),
            Value(Value::Map{{"optimizer", adam}}));
}

}  // namespace
}  // namespace hpsearch::jobs

// Experiment files as the Determined platform, version 0.24, takes and prints them.
#include <gtest/gtest.h>

#include <algorithm>

#include "jobs/read_experiment.hpp"

namespace hpsearch::jobs {
namespace {

// As that platform prints an experiment: every section, every default, nulls included.
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
  EXPECT_EQ(parsed.program.environment_variables, (std::map<std::string, std::string>{{"A", "1"}}));
  EXPECT_EQ(parsed.program.checkpoint_storage.host_path, "/tmp/checkpoints");
}

TEST(DeterminedFile, HearsOfEverySectionThatDoesNothingHere) {
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

TEST(DeterminedFile, ComesBackFromItsEffectiveForm) {
  const ParsedExperiment parsed = read_experiment(printed_experiment());
  ASSERT_TRUE(parsed.config);
  const Value effective = to_value(*parsed.config);
  EXPECT_EQ(*effective.at_path("environment.image.cuda"), Value("img:cuda"));
  EXPECT_EQ(*effective.at_path("optimizations.mixed_precision"), Value("O0"));
  const ParsedExperiment again = read_experiment(effective);
  ASSERT_TRUE(again.config) << lines(again.problems);
  EXPECT_EQ(to_value(*again.config), effective);
}

}  // namespace
}  // namespace hpsearch::jobs

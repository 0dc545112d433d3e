#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "jobs/read_experiment.hpp"

namespace hpsearch::jobs {
namespace {

TEST(EffectiveConfig, ShowsEveryDefault) {
  const ParsedExperiment parsed = read_experiment(small_experiment());
  ASSERT_TRUE(parsed.config);
  EXPECT_EQ(
      compact_json(to_value(*parsed.config)),
      R"({"bind_mounts":[],"budget":{"max_failed_trials":null,"max_slot_hours":null,"max_time":null,"target":null},)"
      R"("checkpoint_policy":"best",)"
      R"("checkpoint_storage":{"host_path":"","save_experiment_best":0,"save_trial_best":1,)"
      R"("save_trial_latest":1,"storage_path":"","type":"shared_fs"},)"
      R"("data":{},"description":"","entrypoint":"python train.py",)"
      R"("environment":{"environment_variables":{},"finish_within":3600.0,"force_pull_image":false,)"
      R"("mirrors":[],"preload":[],"terminal":false},)"
      R"("hyperparameters":{"lr":{"maxval":-1,"minval":-4,"type":"log"}},"inputs":{},"keep_files":{"max_mb":500},"labels":[],)"
      R"("launch":{"kind":"process","rank":"node","roles":{"evaluator":0,"ps":0}},"log_storage":"daemon","lost_after":null,"max_restarts":5,)"
      R"("metrics":{},"min_checkpoint_period":{"batches":0},"min_validation_period":{"batches":0},)"
      R"("name":"stem","outputs":{},"pai":{"hps_json_values":"typed"},"pause_on_failures":3,"perform_initial_validation":false,)"
      R"("program_traits":{"begins_anew":false,"validates_on_demand":false},"progress_timeout":null,"project":"","records_per_epoch":null,)"
      R"("reproducibility":{"experiment_seed":11},)"
      R"("resources":{"is_single_node":false,"labels":{},"least_workers":2,"max_slots":null,"priority":50,"resource_pool":"","slots_per_trial":1,)"
      R"("spans_workers":false,"time_request":null,"weight":1.0},)"
      R"("scheduling_unit":100,)"
      R"("searcher":{"anneal":{"avg_best_idx":2.0,"shrink_coef":0.1},"finalists":3,"max_concurrent_trials":16,"max_length":{"batches":100},"max_trials":10,"metric":"loss",)"
      R"("name":"random","on_duplicate":"allow","points_to_evaluate":[],"prior":[],"repeats":1,"sampler":"random","smaller_is_better":true,)"
      R"("source_checkpoint_uuid":null,"source_trial_id":null,"tpe":{"candidates":64,"gamma":0.25,"initial_results":10}},"source":"packed","where":[],"workers":"cluster","workspace":""})");
}

TEST(EffectiveConfig, ShowsOnlyFieldsOfItsSearcher) {
  Value tree = with(small_experiment(), "hyperparameters.lr", 0.1);
  tree = with(std::move(tree), "searcher",
              Value::Map{{"name", "single"}, {"metric", "loss"}, {"max_length", 3}});
  const ParsedExperiment parsed = read_experiment(tree);
  ASSERT_TRUE(parsed.config) << lines(parsed.problems);
  const Value effective = to_value(*parsed.config);
  EXPECT_EQ(effective.at_path("searcher.max_trials"), nullptr);
  EXPECT_EQ(effective.at_path("searcher.max_concurrent_trials"), nullptr);
}

// A value at a place of an experiment file.
struct Change {
  const char* path;
  Value value;
};

// Changes to the small experiment; every combination is valid.
const std::vector<Change>& changes() {
  static const std::vector<Change> all = {
      {"name", "größe"},
      {"description", "two\nlines"},
      {"labels", Value::List{"a", "b"}},
      {"data", Value::Map{{"x", Value::List{1, 2.5, nullptr}}}},
      {"entrypoint", Value::List{"python", "train.py", 3}},
      {"hyperparameters.net",
       Value::Map{{"type", "categorical"}, {"val", Value::List{1, "x", Value::Map{{"a", 1}}}}}},
      {"hyperparameters.group", Value::Map{{"dropout", nullptr}, {"empty", Value::Map{}}}},
      {"hyperparameters.units",
       Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", 1e3}, {"count", nullptr}}},
      {"hyperparameters.depth",
       Value::Map{{"type", "int"}, {"minval", 2}, {"maxval", 64}, {"scale", "log"}, {"step", 2}}},
      {"hyperparameters.share", Value::Map{{"type", "double"}, {"minval", 0}, {"maxval", 1}, {"step", 0.1}}},
      {"hyperparameters.size",
       Value::Map{{"type", "categorical"}, {"vals", Value::List{"s", "m", "l"}}, {"ordered", true}}},
      {"where", "hp.lr < 0.05"},
      {"hyperparameters.global_batch_size", 64},
      {"searcher.max_length", Value::Map{{"epochs", 12}}},
      {"searcher.max_concurrent_trials", 0},
      {"searcher.smaller_is_better", "no"},
      {"searcher.on_duplicate", "reject"},
      {"searcher.repeats", 3},
      {"searcher.finalists", 5},
      {"searcher.source_checkpoint_uuid", "abc"},
      {"records_per_epoch", 1000},
      {"min_checkpoint_period", 3},
      {"max_restarts", 0},
      {"scheduling_unit", 7},
      {"resource",
       Value::Map{
           {"slots_per_trial", 0}, {"max_slots", 4}, {"weight", 2}, {"priority", 7}, {"shm_size", "2G"}}},
      {"checkpoint_storage",
       Value::Map{{"host_path", "/a"}, {"storage_path", "/a/b"}, {"save_trial_latest", 3}}},
      {"environment.environment_variables", Value::List{"A=1", "B=2", "A=3"}},
      {"environment.image", "img"},
      {"environment.registrt_auth", Value::Map{{"username", "u"}}},
      {"experiment_seed", 77},
      {"metrics", Value::Map{{"acc", "acc=([0-9.]+)"}}},
      {"checkpoint_policy", "all"},
      {"perform_initial_validation", true},
      {"profiling", Value::Map{{"enabled", true}, {"end_after_batch", nullptr}}},
      {"launch", Value::Map{{"kind", "mpi"}}},
      {"budget", Value::Map{{"max_time", "2h"}, {"target", 0.01}}},
      {"inputs", Value::Map{{"train", "/data"}}},
      {"outputs", Value::Map{{"train_url", Value::Map{{"path", "/x"}, {"pre_download", true}}}}},
      {"pai", Value::Map{{"hps_json_values", "string"}}},
      {"layout", "/ml"},
      {"bind_mounts", Value::List{Value::Map{{"host_path", "/x"}, {"container_path", "y"}}}},
  };
  return all;
}

RC_GTEST_PROP(ConfigProperty, EffectiveConfigsReadAsThemselves, ()) {
  Value tree = small_experiment();
  for (const Change& change : changes()) {
    if (*rc::gen::arbitrary<bool>()) {
      tree = with(std::move(tree), change.path, change.value);
    }
  }
  const ParsedExperiment parsed = read_experiment(tree);
  if (!parsed.config) {
    RC_FAIL(lines(parsed.problems));
  }
  const Value effective = to_value(*parsed.config);
  const ParsedExperiment again = parse_submission(effective, test_registry(), "another", 12);
  if (!again.config) {
    RC_FAIL(lines(again.problems));
  }
  RC_ASSERT(compact_json(to_value(*again.config)) == compact_json(effective));
}

// Any value at any place gives an answer and never a crash; there is a config exactly when there is no
// problem.
RC_GTEST_PROP(ConfigProperty, AnyValueAtAnyPlaceGivesAConfigOrProblems, ()) {
  Value tree = small_experiment();
  for (int i = *rc::gen::inRange(1, 6); i > 0; --i) {
    const Change& place = changes().at(*rc::gen::inRange<std::size_t>(0, changes().size()));
    const Value odd = *rc::gen::element<Value>(
        Value(), Value(true), Value(-1), Value(std::int64_t{9223372036854775807}), Value(0.5), Value(1e300),
        Value("nan"), Value(""), Value(Value::List{nullptr, 3}),
        Value(Value::Map{{"", nullptr}, {"type", 4}}), Value(Value::Map{{"type", "int"}, {"minval", "a"}}));
    tree = with(std::move(tree), place.path, odd);
  }
  const ParsedExperiment parsed = read_experiment(tree);
  RC_ASSERT(parsed.config.has_value() == parsed.problems.empty());
}

}  // namespace
}  // namespace hpsearch::jobs

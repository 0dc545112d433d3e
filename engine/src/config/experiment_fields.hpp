#pragma once

#include <tuple>

#include "config/prior_results.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/config/field.hpp"

// The fields of an experiment file that the engine reads, section by section. Fields with rules of their own
// are read in parse_config.cpp and searcher_section.cpp: names, hyperparameters, lengths, seeds, rungs and
// points.

namespace hpsearch::engine {

// Rungs that are listed one by one are built one by one. No search needs more than lengths have doublings,
// and a typing error must not fill the memory.
inline constexpr std::uint64_t most_rungs = 1000;

inline constexpr std::uint64_t most_seed = 0x7fff'ffffU;

inline constexpr std::tuple top_fields{
    Field{"description", &ExperimentConfig::description, kind::Text{}, "display only"},
    Field{"labels", &ExperimentConfig::labels, kind::ListOfTexts{}, "display only"},
    Field{"workspace", &ExperimentConfig::workspace, kind::Text{},
          "[where it belongs](operating/tenants.md); set together with `project`; empty for `default`"},
    Field{"project", &ExperimentConfig::project, kind::Text{},
          "part of the workspace, for lists; set together with `workspace`"},
    Field{"where", &ExperimentConfig::where, kind::Conditions{},
          "[conditions](#where) that every configuration satisfies"},
    Field{"max_restarts", &ExperimentConfig::max_restarts, kind::Integer{0, most_seed},
          "how often a trial is [retried](operating/reliability.md) after its program failed"},
    Field{"pause_on_failures", &ExperimentConfig::pause_on_failures, kind::Integer{0, most_seed},
          "the search [pauses itself](operating/reliability.md#a-search-that-pauses-itself) if its first "
          "trials, this many, all fail in the same way; 0: never"},
    Field{"lost_after", &ExperimentConfig::lost_after, kind::Time{},
          "how long a worker may be silent before its trials run elsewhere",
          "[by checkpoint age](operating/reliability.md#lost-workers)"},
    Field{"workers", &ExperimentConfig::workers,
          kind::OneOf<TrialWorkers, 2>{
              {{{"cluster", TrialWorkers::cluster}, {"external", TrialWorkers::external}}}},
          "who runs the trials; `external`: programs of yours, which [ask for trials](python/ask-tell.md)"},
    Field{"progress_timeout", &ExperimentConfig::progress_timeout, kind::Time{},
          "how long a running program may report nothing before it is ended as failed", "no limit"},
};

/// For every searcher.
inline constexpr std::tuple searcher_fields{
    Field{"smaller_is_better", &SearcherConfig::smaller_is_better, kind::Boolean{},
          "set `false` for accuracies"},
    Field{"source_trial_id", &SearcherConfig::source_trial_id, kind::Integer{1},
          "trials start from this trial's [latest checkpoint](operating/checkpoints.md#warm-start); not "
          "together "
          "with `source_checkpoint_uuid`"},
    Field{"source_checkpoint_uuid", &SearcherConfig::source_checkpoint_uuid, kind::Text{},
          "trials start from this checkpoint"},
};

inline constexpr std::tuple anneal_fields{
    Field{"avg_best_idx", &AnnealConfig::avg_best_idx, kind::Number{0.0},
          "mean rank of the trial drawn near"},
    Field{"shrink_coef", &AnnealConfig::shrink_coef, kind::Number{0.0}, "how fast the draws come nearer"},
};

inline constexpr std::tuple model_fields{
    Field{"initial_results", &ModelConfig::initial_results, kind::Integer{2, 1000},
          "results before the model speaks"},
    Field{"explore", &ModelConfig::explore, kind::Share{}, "share of trials that are not the model's"},
    Field{"min_correlation", &ModelConfig::min_correlation, kind::Share{0.99},
          "how far a trial's first rung must agree with full length; 0: it is always the lowest"},
    Field{"noisy", &ModelConfig::noisy, kind::Boolean{}, "a repeated training gives another metric"},
    Field{"size", &ModelConfig::size, kind::Integer{64, 2000}, "results that the model remembers at once"},
    Field{"fit_size", &ModelConfig::fit_size, kind::Integer{32, 500},
          "results that its scales are fitted to"},
    Field{"candidates", &ModelConfig::candidates, kind::Integer{50, 10000}, "draws that a proposal compares"},
};

inline constexpr std::tuple tpe_fields{
    Field{"initial_results", &TpeConfig::initial_results, kind::Integer{2, 1000},
          "results before it chooses"},
    Field{"gamma", &TpeConfig::gamma, kind::Share{0.99}, "share of the results that are good"},
    Field{"candidates", &TpeConfig::candidates, kind::Integer{1, 10000}, "draws that a sample compares"},
};

inline constexpr std::tuple stopping_fields{
    Field{"rule", &StoppingConfig::rule,
          kind::OneOf<StoppingRule, 3>{{{{"none", StoppingRule::none},
                                         {"median", StoppingRule::median},
                                         {"percentile", StoppingRule::percentile}}}},
          "how a trial is compared with the others before its full length"},
    Field{"percentile", &StoppingConfig::percentile, kind::Integer{1, 99},
          "with that rule, the best so many percent continue"},
    Field{"least_trials", &StoppingConfig::least_trials, kind::Integer{1},
          "a trial is compared with at least so many others"},
    Field{"after", &StoppingConfig::after, kind::Integer{1}, "no trial stops before this length"},
    Field{"every", &StoppingConfig::every, kind::Integer{1}, "length between two comparisons"},
    Field{"patience", &StoppingConfig::patience, kind::Integer{1},
          "length that a trial may train without getting better"},
    Field{"min_delta", &StoppingConfig::min_delta, kind::Amount{},
          "a trial gets better only by more than this"},
};

/// For the searchers that list them (SearcherKind::fields).
inline constexpr std::tuple fields_of_some_searchers{
    Field{"max_trials", &SearcherConfig::max_trials, kind::Integer{1, most_integer, true}, "number of trials",
          "required"},
    Field{"max_concurrent_trials", &SearcherConfig::max_concurrent_trials, kind::Integer{0},
          "number of trials that hold slots at the same time; 0: one trial per slot"},
    Field{"num_rungs", &SearcherConfig::num_rungs, kind::Integer{1, most_rungs, true}, "number of rungs",
          "required"},
    Field{"divisor", &SearcherConfig::divisor, kind::Number{1.0},
          "about one in `divisor` trials continues to the next rung, which is `divisor` times longer"},
    Field{"max_rungs", &SearcherConfig::max_rungs, kind::Integer{1},
          "maximum number of rungs; more than 100 rungs, possible with a divisor close to 1, are rejected"},
    Field{"stop_once", &SearcherConfig::stop_once, kind::Boolean{},
          "at a rung, a trial is stopped or continues at once; no trial pauses there",
          "`false`, or `true` [if `metrics` are read from the output of a program that can't "
          "resume](searchers/README.md#warnings)"},
    Field{"on_duplicate", &SearcherConfig::on_duplicate,
          kind::OneOf<OnDuplicate, 2>{{{{"allow", OnDuplicate::allow}, {"reject", OnDuplicate::reject}}}},
          "whether a configuration may run again; with `reject`, no point may be listed twice"},
    Field{"repeats", &SearcherConfig::repeats, kind::Integer{1, 1000},
          "trainings of each [finalist](searchers/README.md#repeats) in all; 1: no finalist is repeated"},
    Field{"finalists", &SearcherConfig::finalists, kind::Integer{1, 1000},
          "number of best configurations that `repeats` trains again"},
    Field{"sampler", &SearcherConfig::sampler,
          kind::OneOf<SamplerName, 4>{{{{"random", SamplerName::random},
                                        {"anneal", SamplerName::anneal},
                                        {"model", SamplerName::model},
                                        {"tpe", SamplerName::tpe}}}},
          "how configurations are [chosen](searchers/README.md#samplers)"},
    Field{"anneal", &SearcherConfig::anneal, kind::Group<AnnealConfig, anneal_fields>{},
          "parameters of [`sampler: anneal`](searchers/anneal.md)"},
    Field{"model", &SearcherConfig::model, kind::Group<ModelConfig, model_fields>{},
          "parameters of [`sampler: model`](searchers/model.md)"},
    Field{"tpe", &SearcherConfig::tpe, kind::Group<TpeConfig, tpe_fields>{},
          "parameters of [`sampler: tpe`](searchers/tpe.md)"},
    Field{"prior", &SearcherConfig::prior, kind::PriorResults{},
          "[results of earlier searches](searchers/prior.md) that the samplers `anneal`, `model` and `tpe` "
          "begin "
          "with"},
    Field{"stopping", &SearcherConfig::stopping, kind::Group<StoppingConfig, stopping_fields>{},
          "[rules that stop trials](searchers/stopping.md) before their full length; lengths are numbers in "
          "the experiment's unit"},
    Field{"stop_diverged", &SearcherConfig::stop_diverged, kind::Boolean{},
          "a trial [ends at once](searchers/stopping.md#diverging-training) when it reports a metric that is "
          "NaN or infinite"},
};

inline constexpr std::tuple resources_fields{
    Field{"slots_per_trial", &ResourcesConfig::slots_per_trial, kind::Integer{0},
          "slots of each trial; with 0, a trial uses a worker's cores and no slot"},
    Field{"max_slots", &ResourcesConfig::max_slots, kind::Integer{0},
          "maximum number of slots of the experiment", "no limit"},
    Field{"weight", &ResourcesConfig::weight, kind::Number{0.0},
          "share among experiments of the same priority"},
    Field{"priority", &ResourcesConfig::priority, kind::Integer{1, 99},
          "order of experiments; 1 is served first"},
    Field{"resource_pool", &ResourcesConfig::resource_pool, kind::Text{},
          "[the pool](operating/gpu.md#pools-and-labels) whose workers run the trials; empty for the pool "
          "`default`"},
    Field{"labels", &ResourcesConfig::labels, kind::MapOfTexts{}, "labels that a worker must have"},
    Field{"spans_workers", &ResourcesConfig::spans_workers, kind::Boolean{},
          "a trial may use several workers if no worker has enough slots; set by `launch`"},
    Field{"least_workers", &ResourcesConfig::least_workers, kind::Integer{2},
          "minimum number of workers of such a trial; raised by `launch.roles`"},
    Field{"time_request", &ResourcesConfig::time_request, kind::Time{},
          "time that a trial needs until its first checkpoint, or until its end if it saves none; it starts "
          "only on [workers that last so long](clusters/slurm.md#time). Used until attempts were measured",
          "a tenth of the worker's time"},
};

inline constexpr std::tuple budget_fields{
    Field{"max_time", &BudgetConfig::max_time, kind::Time{},
          "time since the first trial got its slots, while a daemon runs"},
    Field{"max_slot_hours", &BudgetConfig::max_slot_hours, kind::Number{0.0},
          "slots × hours, over all trials"},
    Field{"target", &BudgetConfig::target, kind::Number{}, "value of the metric that is good enough"},
    Field{"max_failed_trials", &BudgetConfig::max_failed_trials, kind::Integer{1},
          "trials that failed after all their restarts"},
};

inline constexpr std::tuple checkpoint_storage_fields{
    Field{"save_experiment_best", &CheckpointRetention::save_experiment_best, kind::Integer{0},
          "number of best checkpoints kept for the experiment"},
    Field{"save_trial_best", &CheckpointRetention::save_trial_best, kind::Integer{0},
          "number of best checkpoints kept for each trial"},
    Field{"save_trial_latest", &CheckpointRetention::save_trial_latest, kind::Integer{0},
          "number of latest checkpoints kept for each trial"},
};

inline constexpr std::tuple program_traits_fields{
    Field{"begins_anew", &ProgramTraits::begins_anew, kind::Boolean{},
          "the program writes no checkpoints, so after a pause it starts from the beginning"},
    Field{"validates_on_demand", &ProgramTraits::validates_on_demand, kind::Boolean{},
          "the program reports at every length it is given, regardless of `min_validation_period`"},
};

}  // namespace hpsearch::engine

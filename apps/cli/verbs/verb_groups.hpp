#pragma once

#include "cli/verbs/verb_builder.hpp"

namespace hpsearch::cli {

// The commands of the command line: each group adds its own, with their options and actions. The help lists
// them in the order in which they are added.

// search_verbs.cpp
void add_run(VerbBuilder& build);
void add_file_verbs(VerbBuilder& build);
void add_simulate(VerbBuilder& build);

// result_verbs.cpp
void add_reading_verbs(VerbBuilder& build);
void add_comparing_verbs(VerbBuilder& build);
void add_ended_verbs(VerbBuilder& build);

// control_verbs.cpp
void add_following_verbs(VerbBuilder& build);
void add_control_verbs(VerbBuilder& build);
void add_worker_verbs(VerbBuilder& build);

// artifact_verbs.cpp
void add_checkpoint_verbs(VerbBuilder& build);
void add_files_verbs(VerbBuilder& build);

// admin_verbs.cpp
void add_store_verbs(VerbBuilder& build);
void add_notify(VerbBuilder& build);
void add_cluster_verbs(VerbBuilder& build);
void add_key_verbs(VerbBuilder& build);
void add_token_verbs(VerbBuilder& build);
void add_context_verbs(VerbBuilder& build);
void add_audit_verbs(VerbBuilder& build);
void add_usage(VerbBuilder& build);
void add_workspace_verbs(VerbBuilder& build);
void add_alloc_verbs(VerbBuilder& build);
/// The options of a queue that `alloc add` and `run --on slurm` have; returns them.
std::vector<CLI::Option*> add_queue_options(CLI::App& to, AllocOptions& options);
void add_component_verbs(VerbBuilder& build);
void add_completion(VerbBuilder& build);
void add_doctor(VerbBuilder& build);

}  // namespace hpsearch::cli

#pragma once

#include "cli/experiment/experiment_file.hpp"
#include "cli/render/output.hpp"
#include "cli/verbs/verbs.hpp"

namespace hpsearch::cli {

/// Whether `searcher.prior` names searches or files, instead of only listing results.
[[nodiscard]] bool names_prior(const engine::Value& tree);

/// Replaces the names of searches and files in `searcher.prior` by their results, so that the experiment
/// contains them from now on. A name that ends with .csv or .jsonl is a file, relative to the experiment
/// file; another one is a search, named as in every command. Adds problems, and notes about the results, to
/// the file's. Does nothing if the file already has problems.
void read_prior(ExperimentFile& file, const ServerOptions& server, const Output& output);

}  // namespace hpsearch::cli

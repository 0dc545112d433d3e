#pragma once

#include "cli/experiment/experiment_file.hpp"
#include "cli/render/output.hpp"
#include "cli/verbs/verbs.hpp"

namespace hpsearch::cli {

/// Whether `searcher.prior` names searches or files, and does not only list results.
[[nodiscard]] bool names_prior(const engine::Value& tree);

/// Puts the results of the searches and files that `searcher.prior` names in their place, so that the
/// experiment holds them from now on. A name that ends with .csv or .jsonl is a file, relative to the
/// experiment file; another one is a search, named as every verb names it. What is wrong, and what became of
/// the results, is added to the file's problems and notes. Of a file that has problems nothing is looked up.
void read_prior(ExperimentFile& file, const ServerOptions& server, const Output& output);

}  // namespace hpsearch::cli

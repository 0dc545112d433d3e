#pragma once

#include "cli/experiment/experiment_file.hpp"
#include "cli/render/output.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

/// Adds notes to an experiment file without problems: no worker of this list serves its pool and labels, or
/// none has as many slots as a trial needs. Workers come and go, so these are not problems. `workers` are
/// from GET /workers.
void check_cluster(ExperimentFile& file, const engine::Value::List& workers);

/// The same with the workers of the daemon that the options, HPSEARCH_SERVER or the current context name; if
/// none is named, nothing is checked. Prints a message if the daemon could not be reached.
void check_named_cluster(ExperimentFile& file, const ServerOptions& options, const Output& output);

}  // namespace hpsearch::cli

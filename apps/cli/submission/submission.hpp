#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/client/client.hpp"
#include "cli/experiment/experiment_file.hpp"
#include "hpsearch/proto/api/experiments.hpp"

namespace hpsearch::cli {

/// A unique key: 128 random bits in hexadecimal.
[[nodiscard]] std::string fresh_key();

/// The directory of the programs, and the state of its Git checkout.
struct SubmittedContext {
  std::string directory;
  std::string digest;  ///< The daemon has it by this digest; "" = the workers read the directory.
  std::optional<api::GitState> git;
};

struct Submitted {
  std::uint64_t experiment = 0;
  std::string note;  ///< Why the daemon does not keep the file as written; "" = it does.
};

/// Submits the experiment to the daemon, and its file as its user wrote it. The same key returns the same
/// experiment again.
[[nodiscard]] Outcome<Submitted> submit_experiment(const Client& client, const ExperimentFile& file,
                                                   const SubmittedContext& context, const std::string& key);

}  // namespace hpsearch::cli

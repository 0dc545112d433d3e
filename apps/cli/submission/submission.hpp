#pragma once

#include <cstdint>
#include <string>

#include "cli/client/client.hpp"
#include "cli/experiment/experiment_file.hpp"

namespace hpsearch::cli {

/// A unique key: 128 random bits in hexadecimal.
[[nodiscard]] std::string fresh_key();

/// Submits the experiment to the daemon, with the context that the daemon has by that digest ("": the workers
/// read the directory); returns its id. The same key returns the same id again.
[[nodiscard]] Outcome<std::uint64_t> submit_experiment(const Client& client, const engine::Value& tree,
                                                       const std::string& fallback_name,
                                                       const std::string& context_directory,
                                                       const std::string& context_digest,
                                                       const std::string& key);

}  // namespace hpsearch::cli

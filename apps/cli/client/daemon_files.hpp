#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/artifacts/kept_files.hpp"
#include "cli/client/client.hpp"
#include "cli/verbs/failure.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

/// Files that programs left in their working directories, as a cluster's daemon has them: their workers are
/// on other machines, or have left.
class DaemonFiles {
 public:
  DaemonFiles(const Client& client, std::uint64_t experiment) : client_(client), experiment_(experiment) {}

  /// The answer of /api/v1/experiments/N/files. not_found: the daemon keeps none.
  [[nodiscard]] Outcome<engine::Value> trials() const;
  /// The answer of /api/v1/experiments/N/trials/T/files.
  [[nodiscard]] Outcome<engine::Value> of_trial(std::uint64_t trial) const;

  /// Fetches a trial's files into a new directory; every content is checked, and no name leads out of it.
  /// Removes the directory if something fails.
  [[nodiscard]] Outcome<LinksLeftOut> copy(std::uint64_t trial, const std::filesystem::path& to) const;
  /// Fetches them as one tar archive into a new file, which is removed if something fails.
  [[nodiscard]] Outcome<LinksLeftOut> save(std::uint64_t trial, const std::filesystem::path& to) const;

 private:
  const Client& client_;
  std::uint64_t experiment_;
};

}  // namespace hpsearch::cli

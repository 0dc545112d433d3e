#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/client/server.hpp"
#include "cli/doctor/checks.hpp"

namespace hpsearch::cli {

/// Where a bundle finds what the facts don't have.
struct BundleSources {
  std::vector<std::string> logs;         ///< Files; without one, the journal of the services.
  std::optional<std::string> state_dir;  ///< The daemon's, if it is on this machine.
  std::optional<Client> daemon;
};

/// The files of a bug report: (name, content), each masked. Reads, and changes nothing.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> bundle_of(
    const Facts& facts, const std::vector<CheckedFinding>& findings, const BundleSources& sources);

/// The findings as JSON.
[[nodiscard]] engine::Value value_of(const std::vector<CheckedFinding>& findings);

/// The last lines of a text.
inline constexpr std::size_t bundled_log_lines = 2'000;

/// Packs them into a new file that only this user may read. conflict: it is there already.
[[nodiscard]] Outcome<engine::Done> write_bundle(
    const std::string& file, const std::vector<std::pair<std::string, std::string>>& texts);

}  // namespace hpsearch::cli

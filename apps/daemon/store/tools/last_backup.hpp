#pragma once

#include <optional>
#include <string>

#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// Below a state directory: copies in progress, and the record of the last good backup.
inline constexpr const char* backups_directory = "/backups";

/// When the last good backup of the store in that state directory was made, by its daemon or by the command
/// line while no daemon ran. Null: there was none.
[[nodiscard]] std::optional<engine::Instant> last_backup_of(const std::string& state_directory);

/// Records a good backup. The record belongs to the owner of the state directory, also if root makes it.
[[nodiscard]] engine::Status note_backup(const std::string& state_directory, engine::Instant made);

}  // namespace hpsearch::daemon

#pragma once

#include <filesystem>
#include <optional>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/jobs/launch/launch_spec.hpp"
#include "hpsearch/workers/core/launch/run_as.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/transfer/checkpoint_publisher.hpp"

namespace hpsearch::workers {

// Checkpoints of programs that run as another user than their worker.
//
// Users can't enter the daemon's own directory for checkpoints (LaunchSpec::default_storage). There root
// opens the directory and makes a directory of the user's for each experiment; below it, everything is read
// and written with the user's rights. The checkpoint from which a program starts is linked into the program's
// directory. In other places, nothing is done that the user could not do.

/// publish_checkpoint() with the rights of the program's user, so files that the user may not read are never
/// part of a checkpoint, even through links. A published checkpoint belongs to the user. unavailable: also if
/// the user may not write there.
[[nodiscard]] engine::Result<std::optional<engine::CheckpointReport>> publish_checkpoint_as(
    const UnixAccount& account, const OwnDirectory& from, const std::filesystem::path& root,
    const std::filesystem::path& default_storage, const engine::AttemptKey& key, engine::Units step,
    std::uint64_t store);

/// If the attempt's latest checkpoint is below its default_storage, puts it into AttemptDirectory::fetched(),
/// owned by the user, and returns true; otherwise returns false and does nothing. `gone` is set if a failure
/// came although the checkpoint's storage was found. Uses hard links if the file system has them, else a
/// copy. not_found: it doesn't exist. corrupt: it differs from its manifest. unavailable: it can't be read
/// now.
[[nodiscard]] engine::Result<bool> bring_checkpoint(const UnixAccount& account, const jobs::LaunchSpec& spec,
                                                    const AttemptDirectory& attempt, bool& gone);

/// bad_request: the user may not write to the attempt's checkpoint_root, if the
/// experiment chose it. Makes the directory, like publishing. Call it with the user's rights.
[[nodiscard]] engine::Status storage_is_writable(const UnixAccount& account, const jobs::LaunchSpec& spec);

}  // namespace hpsearch::workers

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
// opens the directory and gives each experiment one of its user's; everything below is read and written with
// the user's rights. What a program starts from is linked into its own directory. Other places are the user's
// concern: nothing is done there that the user could not do.

/// publish_checkpoint() with the rights of the program's user, so what the user may not read is no part of a
/// checkpoint, whatever links to it. What is published belongs to the user. unavailable: also if the user may
/// not write there.
[[nodiscard]] engine::Result<std::optional<engine::CheckpointReport>> publish_checkpoint_as(
    const UnixAccount& account, const OwnDirectory& from, const std::filesystem::path& root,
    const std::filesystem::path& default_storage, const engine::AttemptKey& key, engine::Units step,
    std::uint64_t store);

/// If the attempt's latest checkpoint is below its default_storage: puts it into AttemptDirectory::fetched(),
/// as the user's, and returns true; false otherwise, and nothing is done. `gone` tells of a failure that the
/// checkpoint's storage was found. Hard links where the file system has them, else a copy.
/// not_found: it is not there. corrupt: it is not what its manifest lists. unavailable: it cannot be read
/// now.
[[nodiscard]] engine::Result<bool> bring_checkpoint(const UnixAccount& account, const jobs::LaunchSpec& spec,
                                                    const AttemptDirectory& attempt, bool& gone);

/// bad_request: the user may not write to the attempt's checkpoint_root, if that is a place that its
/// experiment names. Makes the directory, as publishing does. Call it with the user's rights.
[[nodiscard]] engine::Status storage_is_writable(const UnixAccount& account, const jobs::LaunchSpec& spec);

}  // namespace hpsearch::workers

#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/workers/core/effects.hpp"
#include "hpsearch/workers/shell/own_directory.hpp"

namespace hpsearch::workers {

// Checkpoints in an object store (s3, gcs, azure), transferred by rclone. All functions block; don't call
// them on the loop.

/// publish_checkpoint() for an object store: uploads the content first and the manifest last, so that a
/// checkpoint with a manifest is complete. The attempt's directory `staging` keeps the checkpoint until the
/// upload is complete; after a failure or a crash the next call continues it. The report's path is the
/// checkpoint's address.
[[nodiscard]] engine::Result<std::optional<engine::CheckpointReport>> upload_checkpoint(
    const OwnDirectory& from, const files::Directory& attempt, const PublishCheckpoint& wanted);

/// Downloads the checkpoint at an address into the attempt's directory `to`, which is made again, and
/// compares every file with the manifest. not_found: there is none. corrupt: it is damaged. bad_request: the
/// store refuses. unavailable: it can't be reached now.
engine::Status download_checkpoint(const std::string& address, const files::Directory& attempt,
                                   const std::string& to,
                                   const std::map<std::string, std::string>& storage_environment);

}  // namespace hpsearch::workers

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

// Checkpoints in an object store (s3, gcs, azure), carried by rclone. All of this blocks; call it off the
// loop.

/// What publish_checkpoint() does, to an object store: the content first, the manifest last, so that what has
/// a manifest there is whole. The directory `staging` of the attempt's keeps the checkpoint until it is
/// there; after a failure or a crash the next call goes on with it. The report's path is the checkpoint's
/// address.
[[nodiscard]] engine::Result<std::optional<engine::CheckpointReport>> upload_checkpoint(
    const OwnDirectory& from, const files::Directory& attempt, const PublishCheckpoint& wanted);

/// Fetches the checkpoint at an address into the directory `to` of the attempt's, which is made anew, and
/// compares every file with the manifest. not_found: there is none. corrupt: it is damaged. bad_request: the
/// store refuses. unavailable: it cannot be reached now.
engine::Status download_checkpoint(const std::string& address, const files::Directory& attempt,
                                   const std::string& to,
                                   const std::map<std::string, std::string>& storage_environment);

}  // namespace hpsearch::workers

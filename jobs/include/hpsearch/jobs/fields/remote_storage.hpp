#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "hpsearch/jobs/fields/program.hpp"

namespace hpsearch::jobs {

/// Checkpoint storage in an object store, as a remote of rclone named `hpsearch:`.
struct RemoteStorage {
  std::string root;  ///< "s3://bucket/prefix", "gs://…" or "azure://…"; no slash at its end.
  std::map<std::string, std::string>
      environment;  ///< Variables that tell rclone what the remote is. Secrets too.
};

/// Where such checkpoints go, or nothing when that is a directory.
[[nodiscard]] std::optional<RemoteStorage> remote_storage(const CheckpointStorage& storage);
/// The same of an effective experiment (engine::to_value), or of what the daemon shows of one.
[[nodiscard]] std::optional<RemoteStorage> remote_storage(const Value& effective);

/// Whether a checkpoint's place is in such a storage, and what rclone calls that place:
/// "hpsearch:bucket/prefix/…".
[[nodiscard]] bool is_remote(std::string_view place) noexcept;
[[nodiscard]] std::string rclone_place(std::string_view place);

}  // namespace hpsearch::jobs

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
      environment;  ///< Variables that configure the remote for rclone, with its secrets.
};

/// The remote of a checkpoint storage; nothing if the storage is a directory.
[[nodiscard]] std::optional<RemoteStorage> remote_storage(const CheckpointStorage& storage);
/// The remote in an effective experiment (engine::to_value), or in the daemon's view of one.
[[nodiscard]] std::optional<RemoteStorage> remote_storage(const Value& effective);

/// Whether a checkpoint's place is in such a storage. Then it has the form that rclone uses:
/// "hpsearch:bucket/prefix/…".
[[nodiscard]] bool is_remote(std::string_view place) noexcept;
[[nodiscard]] std::string rclone_place(std::string_view place);

}  // namespace hpsearch::jobs

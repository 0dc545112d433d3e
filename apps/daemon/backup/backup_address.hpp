#pragma once

#include <map>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// A place for backups in an object store, as a remote of rclone.
struct BackupAddress {
  std::string root;  ///< "s3://BUCKET/PREFIX", "gs://…" or "azure://…"; no slash at its end.
  std::map<std::string, std::string> environment;  ///< Variables that configure the remote for rclone.

  /// Whether the place has the form of an address; otherwise it is a directory.
  [[nodiscard]] static bool is_meant(std::string_view place) noexcept;
  /// `endpoint_url`: where the object store is reached; "" = where its provider serves all users. Keys are
  /// those of the environment, as AWS_ACCESS_KEY_ID. bad_request: another scheme, no bucket, `..`, or an
  /// endpoint that isn't one.
  [[nodiscard]] static engine::Result<BackupAddress> read(const std::string& place,
                                                          const std::string& endpoint_url);

  /// How rclone names a place below the root; "" = the root.
  [[nodiscard]] std::string place_of(std::string_view below) const;
};

}  // namespace hpsearch::daemon

#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "hpsearch/jobs/fields/field_kinds.hpp"

// `checkpoint_storage`: `type`, and a table of fields for each type. The engine reads how many checkpoints
// are kept.

namespace hpsearch::jobs {

/// `checkpoint_storage` without the counts of kept checkpoints. Only the fields of its type are set.
struct CheckpointStorage {
  std::string type = "shared_fs";  ///< "shared_fs", "s3", "gcs" or "azure"; "" if the file has another type.

  // shared_fs
  std::string host_path;     ///< "" = below the daemon's state directory.
  std::string storage_path;  ///< Below host_path, or "".
  Value container_path;      ///< This and the next three have no effect; they are kept as written.
  Value checkpoint_path;
  Value tensorboard_path;
  Value propagation;

  // s3 and gcs
  std::string bucket;
  std::optional<std::string> prefix;
  std::optional<std::string> endpoint_url;
  std::optional<std::string> access_key;
  std::optional<std::string> secret_key;

  // azure
  std::string container;
  std::optional<std::string> connection_string;
  std::optional<std::string> account_url;
  std::optional<std::string> credential;
};

[[nodiscard]] bool is_absolute_without_dots(std::string_view path) noexcept;

inline constexpr kind::TextRule storage_directory{is_absolute_without_dots, "an absolute path without `..`",
                                                  "absolute path without `..`",
                                                  R"(^$|^/(?!(.*/)?\.\.(/|$)))"};
inline constexpr kind::TextRule path_below_storage{
    stays_below, "a path without `..`, below host_path",
    "path without `..`; an absolute path must be below `host_path`, or takes its place if that is empty",
    R"(^(?!(.*/)?\.\.(/|$)))"};
inline constexpr kind::TextRule path_in_bucket{stays_below, "a path without `..`", "path without `..`",
                                               R"(^(?!(.*/)?\.\.(/|$)))"};
inline constexpr kind::TextRule bucket_name{is_not_empty, "the name of the bucket", "text, not empty", "."};
inline constexpr kind::TextRule container_name{is_not_empty, "the name of the container", "text, not empty",
                                               "."};

inline constexpr std::string_view no_path_of_storage =
    "has no effect here: programs find their checkpoints at HPSEARCH_CHECKPOINT_DIR, in containers too";

inline constexpr std::array<std::string_view, 4> storage_types = {"shared_fs", "s3", "gcs", "azure"};

inline constexpr std::tuple storage_fields{
    Field{"type", &CheckpointStorage::type, kind::Word{storage_types},
          "a file system that daemon and workers share, or an object store"},
};

inline constexpr std::tuple shared_fs_fields{
    Field{
        "host_path", &CheckpointStorage::host_path, kind::RuledText{storage_directory},
        "the directory; if empty, `hpsearchd --checkpoint-root`, or else `checkpoints` in the daemon's state "
        "directory"},
    Field{"storage_path", &CheckpointStorage::storage_path, kind::RuledText{path_below_storage},
          "a directory below `host_path`"},
    Field{"container_path", &CheckpointStorage::container_path,
          kind::AsWritten{kind::Text{}, no_path_of_storage}, "no effect"},
    Field{"checkpoint_path", &CheckpointStorage::checkpoint_path,
          kind::AsWritten{kind::Text{}, no_path_of_storage}, "no effect"},
    Field{"tensorboard_path", &CheckpointStorage::tensorboard_path,
          kind::AsWritten{kind::Text{}, no_path_of_storage}, "no effect"},
    Field{"propagation", &CheckpointStorage::propagation, kind::AsWritten{kind::Text{}, no_path_of_storage},
          "no effect"},
};

inline constexpr std::tuple gcs_fields{
    Field{"bucket", &CheckpointStorage::bucket, kind::Required{kind::RuledText{bucket_name}}, "the bucket",
          "required"},
    Field{"prefix", &CheckpointStorage::prefix, kind::RuledText{path_in_bucket},
          "a path in the bucket; each daemon needs its own"},
};

inline constexpr std::tuple s3_fields =
    std::tuple_cat(gcs_fields, std::tuple{
                                   Field{"endpoint_url", &CheckpointStorage::endpoint_url, kind::Text{},
                                         "URL of an S3-compatible store", "Amazon S3"},
                                   Field{"access_key", &CheckpointStorage::access_key, kind::Secret{},
                                         "the key's name; not displayed", "the machine's own"},
                                   Field{"secret_key", &CheckpointStorage::secret_key, kind::Secret{},
                                         "the key; not displayed", "the machine's own"},
                               });

inline constexpr std::tuple azure_fields{
    Field{"container", &CheckpointStorage::container, kind::Required{kind::RuledText{container_name}},
          "the container", "required"},
    Field{"connection_string", &CheckpointStorage::connection_string, kind::Secret{},
          "account and key; not displayed", "this or `account_url` is required"},
    Field{"account_url", &CheckpointStorage::account_url, kind::Text{},
          "the account; `connection_string` has precedence", "this or `connection_string` is required"},
    Field{"credential", &CheckpointStorage::credential, kind::Secret{},
          "the key for `account_url`; not displayed", "the machine's own"},
};

/// Calls `visit` with the table of a type; does nothing for "".
void with_fields_of(std::string_view type, auto&& visit) {
  if (type == "shared_fs") {
    visit(shared_fs_fields);
  } else if (type == "s3") {
    visit(s3_fields);
  } else if (type == "gcs") {
    visit(gcs_fields);
  } else if (type == "azure") {
    visit(azure_fields);
  }
}

}  // namespace hpsearch::jobs

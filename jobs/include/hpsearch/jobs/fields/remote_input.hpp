#pragma once

#include <map>
#include <string>
#include <string_view>

namespace hpsearch::jobs {

// Inputs in the object stores of Alibaba (oss://BUCKET/PATH) and Huawei (obs://BUCKET/PATH). A worker fetches
// them with rclone, whose remote has the scheme's name.

/// "oss" or "obs"; "" if the path has none of these schemes.
[[nodiscard]] std::string_view remote_input_scheme(std::string_view path) noexcept;

/// Whether the program's variables configure that remote: RCLONE_CONFIG_OSS_TYPE, or RCLONE_CONFIG, which has
/// the path of rclone's configuration file.
[[nodiscard]] bool configures_remote(const std::map<std::string, std::string>& variables,
                                     std::string_view scheme);

/// The arguments of rclone that fetch an input into a directory: "oss://b/train/" is copied as a directory,
/// "oss://b/a.csv" as a file with that name.
struct RemoteInput {
  std::string place;                             ///< "oss:b/train/"
  std::string file_name;                         ///< "" if it is a directory.
  std::string configuration;                     ///< Path of rclone's configuration file, or "".
  std::map<std::string, std::string> variables;  ///< The variables that rclone reads.
};
[[nodiscard]] RemoteInput remote_input(std::string_view path,
                                       const std::map<std::string, std::string>& variables);

}  // namespace hpsearch::jobs

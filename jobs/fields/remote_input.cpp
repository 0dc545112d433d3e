#include "hpsearch/jobs/fields/remote_input.hpp"

#include <algorithm>

namespace hpsearch::jobs {
namespace {

constexpr std::string_view scheme_end = "://";
constexpr const char* configuration_variable = "RCLONE_CONFIG";

}  // namespace

std::string_view remote_input_scheme(std::string_view path) noexcept {
  for (const std::string_view scheme : {"oss", "obs"}) {
    if (path.starts_with(scheme) && path.substr(scheme.size()).starts_with(scheme_end)) {
      return scheme;
    }
  }
  return "";
}

bool configures_remote(const std::map<std::string, std::string>& variables, std::string_view scheme) {
  return variables.contains(configuration_variable) ||
         variables.contains(scheme == "oss" ? "RCLONE_CONFIG_OSS_TYPE" : "RCLONE_CONFIG_OBS_TYPE");
}

RemoteInput remote_input(std::string_view path, const std::map<std::string, std::string>& variables) {
  const std::string_view scheme = remote_input_scheme(path);
  const std::string_view rest = path.substr(std::min(path.size(), scheme.size() + scheme_end.size()));
  RemoteInput input{.place = std::string(scheme) + ":" + std::string(rest),
                    .file_name = std::string(rest.substr(rest.find_last_of('/') + 1)),
                    .configuration = {},
                    .variables = {}};
  for (const auto& [name, value] : variables) {
    if (name == configuration_variable) {
      input.configuration = value;
    } else if (name.starts_with("RCLONE_")) {
      input.variables.emplace(name, value);
    }
  }
  return input;
}

}  // namespace hpsearch::jobs

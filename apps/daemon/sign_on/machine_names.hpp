#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hpsearch::daemon {

/// A user whom this machine knows.
struct MachineUser {
  std::string name;
  std::uint32_t uid = 0;
  std::uint32_t group = 0;  ///< The primary one.
};

/// These may ask a directory service. Null: the machine has no such user or group, or can't say.
[[nodiscard]] std::optional<MachineUser> user_named(const std::string& name);
[[nodiscard]] std::optional<MachineUser> user_with_uid(std::uint32_t uid);
[[nodiscard]] std::optional<std::uint32_t> group_named(const std::string& name);

}  // namespace hpsearch::daemon

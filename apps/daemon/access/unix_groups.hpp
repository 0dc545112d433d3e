#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/access/role.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// A group of this machine, whose members have a role over the Unix socket.
struct GroupRole {
  std::string name;
  std::uint32_t group = 0;
  Role role = Role::viewer;
};

/// "hpsearch=submitter". bad_request: it is not of this form, or there is no such group or role.
[[nodiscard]] engine::Result<GroupRole> read_group_role(const std::string& text);

/// The groups of a user, the primary one included; none if the user has no entry. May ask a directory
/// service.
[[nodiscard]] std::vector<std::uint32_t> groups_of_user(std::uint32_t uid);

/// The roles that users of this machine have by their groups.
///
/// Threads: one. Cost: at most one lookup of a user's groups per minute.
class UnixGroups {
 public:
  using GroupsOf = std::function<std::vector<std::uint32_t>(std::uint32_t uid)>;
  static constexpr engine::Duration remembered_for = engine::Duration::seconds(60);
  static constexpr std::size_t most_users = 10'000;

  UnixGroups() = default;
  explicit UnixGroups(std::vector<GroupRole> roles, GroupsOf groups_of = groups_of_user)
      : roles_(std::move(roles)), groups_of_(std::move(groups_of)) {}

  /// The highest role of the user's groups; null: none of them has one.
  [[nodiscard]] std::optional<Role> role_of(std::uint32_t uid, engine::Instant now);

  [[nodiscard]] const std::vector<GroupRole>& roles() const noexcept { return roles_; }

 private:
  struct Known {
    engine::Instant at;
    std::optional<Role> role;
  };
  std::vector<GroupRole> roles_;
  GroupsOf groups_of_;
  std::map<std::uint32_t, Known> known_;
};

}  // namespace hpsearch::daemon

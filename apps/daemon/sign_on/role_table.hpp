#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/access/role.hpp"
#include "daemon/access/scope.hpp"

namespace hpsearch::daemon {

/// A role in workspaces.
struct Rights {
  Role role = Role::viewer;
  Scope scope{};
};

/// The role of a group's members.
struct GroupRights {
  std::string group;  ///< RoleTable::everyone: all people who are signed in.
  Role role = Role::viewer;
  std::vector<std::string> workspaces{};  ///< None = all.
};

/// From the groups of a person, as a provider or a proxy names them, to what the person may do.
class RoleTable {
 public:
  static constexpr std::string_view everyone = "*";

  RoleTable() = default;
  explicit RoleTable(std::vector<GroupRights> rows) : rows_(std::move(rows)) {}

  /// The highest role of these groups, in the workspaces of all rows with that role. Null: no row is for any
  /// of the groups.
  [[nodiscard]] std::optional<Rights> rights_of(const std::vector<std::string>& groups) const;

  /// The groups among these that the table has a row for.
  [[nodiscard]] std::vector<std::string> known_of(const std::vector<std::string>& groups) const;

 private:
  std::vector<GroupRights> rows_;
};

}  // namespace hpsearch::daemon

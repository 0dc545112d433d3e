#include "daemon/sign_on/role_table.hpp"

#include <algorithm>

namespace hpsearch::daemon {
namespace {

bool has(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

}  // namespace

std::optional<Rights> RoleTable::rights_of(const std::vector<std::string>& groups) const {
  const auto is_for = [&groups](const GroupRights& row) {
    return row.group == everyone || has(groups, row.group);
  };
  std::optional<Role> highest;
  for (const GroupRights& row : rows_) {
    if (is_for(row)) {
      highest = std::max(highest.value_or(row.role), row.role);
    }
  }
  if (!highest) {
    return std::nullopt;
  }
  std::vector<std::string> workspaces;
  for (const GroupRights& row : rows_) {
    if (row.role != *highest || !is_for(row)) {
      continue;
    }
    if (row.workspaces.empty()) {
      return Rights{*highest, Scope()};
    }
    workspaces.insert(workspaces.end(), row.workspaces.begin(), row.workspaces.end());
  }
  return Rights{*highest, Scope(std::move(workspaces))};
}

std::vector<std::string> RoleTable::known_of(const std::vector<std::string>& groups) const {
  std::vector<std::string> known;
  for (const GroupRights& row : rows_) {
    if (has(groups, row.group) && !has(known, row.group)) {
      known.push_back(row.group);
    }
  }
  return known;
}

}  // namespace hpsearch::daemon

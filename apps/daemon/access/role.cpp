#include "daemon/access/role.hpp"

namespace hpsearch::daemon {

std::optional<Role> token_role(std::string_view name) noexcept {
  for (const NamedRole& one : token_roles) {
    if (one.name == name) {
      return one.role;
    }
  }
  return std::nullopt;
}

std::string_view name_of(Role role) noexcept {
  for (const NamedRole& one : token_roles) {
    if (one.role == role) {
      return one.name;
    }
  }
  return role == Role::worker ? "worker" : "anyone";
}

}  // namespace hpsearch::daemon

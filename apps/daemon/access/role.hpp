#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hpsearch/proto/encoding/spell.hpp"

namespace hpsearch::daemon {

/// The permissions of a client in the workspaces of its Scope. Each role includes those before it.
enum class Role : std::uint8_t {
  anyone,   ///< Shows no credentials: health and version.
  worker,   ///< A worker's session: fetches contexts, uploads logs.
  viewer,   ///< Reads everything but secrets.
  submit,   ///< Submits experiments, and changes its own.
  operate,  ///< Changes all experiments, trials and workers.
  admin,    ///< Also tokens, workspaces, quotas and backups.
};

/// A role that a token may have, with its name.
struct NamedRole {
  std::string_view name;
  Role role;
};
inline constexpr std::array token_roles{
    NamedRole{"viewer", Role::viewer}, NamedRole{"submitter", Role::submit},
    NamedRole{"operator", Role::operate}, NamedRole{"admin", Role::admin}};

/// Null: no token may have a role of that name.
[[nodiscard]] std::optional<Role> token_role(std::string_view name) noexcept;
[[nodiscard]] std::string_view name_of(Role role) noexcept;

}  // namespace hpsearch::daemon

template <>
struct hpsearch::proto::Words<hpsearch::daemon::Role> {
  static std::string_view of(daemon::Role role) { return daemon::name_of(role); }
  static std::optional<daemon::Role> find(std::string_view word) { return daemon::token_role(word); }
};

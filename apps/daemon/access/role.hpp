#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hpsearch/proto/encoding/spell.hpp"

namespace hpsearch::daemon {

/// What a client may do, in the workspaces of its Scope. Each role may do what those before it may.
enum class Role : std::uint8_t {
  anyone,   ///< Has shown nothing: health and version.
  worker,   ///< A session of a worker: fetches contexts, hands over logs.
  viewer,   ///< Reads everything but secrets.
  submit,   ///< Submits experiments, and changes those.
  operate,  ///< Changes all experiments, trials and workers.
  admin,    ///< Also tokens, workspaces, quotas and backups.
};

/// Those that a token may have, by their names.
struct NamedRole {
  std::string_view name;
  Role role;
};
inline constexpr std::array token_roles{
    NamedRole{"viewer", Role::viewer}, NamedRole{"submitter", Role::submit},
    NamedRole{"operator", Role::operate}, NamedRole{"admin", Role::admin}};

/// Nothing: no token may have a role of that name.
[[nodiscard]] std::optional<Role> token_role(std::string_view name) noexcept;
[[nodiscard]] std::string_view name_of(Role role) noexcept;

}  // namespace hpsearch::daemon

template <>
struct hpsearch::proto::Words<hpsearch::daemon::Role> {
  static std::string_view of(daemon::Role role) { return daemon::name_of(role); }
  static std::optional<daemon::Role> find(std::string_view word) { return daemon::token_role(word); }
};

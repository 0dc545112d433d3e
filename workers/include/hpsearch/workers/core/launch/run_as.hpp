#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/jobs/launch/launch_spec.hpp"
#include "hpsearch/proto/encoding/spell.hpp"
#include "hpsearch/proto/wire/unix_user.hpp"

namespace hpsearch::workers {

/// A user as this machine knows it.
struct UnixAccount {
  std::string name;
  std::uint64_t uid = 0;
  std::uint64_t gid = 0;              ///< The user's own group.
  std::vector<std::uint64_t> groups;  ///< All of them, with that one.
  std::string home;

  bool operator==(const UnixAccount&) const = default;
};

void spell(auto& fields, proto::Is<UnixAccount> auto& account) {
  fields.bytes("name", account.name);
  fields("uid", account.uid);
  fields("gid", account.gid);
  fields("groups", account.groups);
  fields.bytes("home", account.home);
}

/// The user as whom a worker runs programs: its own user, or (`--run-as submitter`) each as the user who
/// submitted it.
struct RunAs {
  bool submitter = false;
  std::uint64_t min_uid = 1000;  ///< Users with a smaller uid are refused.
  /// Variables of the worker that programs of other users get (`--keep-environment`).
  std::vector<std::string> keep_environment{};
};

/// The user of that name; none where the machine has none. unavailable: the lookup fails now.
using FindAccount = std::function<engine::Result<std::optional<UnixAccount>>(const proto::UnixUser& user)>;

/// As whom the attempt's program runs; none = as the worker's own user.
///
/// bad_request: this worker may not run programs as that user, or runs programs of that kind as its own user
/// only. The sentence names the value and what is allowed. unavailable: as `find`.
[[nodiscard]] engine::Result<std::optional<UnixAccount>> account_for(const jobs::LaunchSpec& spec,
                                                                     const RunAs& run_as,
                                                                     const FindAccount& find);

/// The part of the worker's environment that a program of that user gets: PATH, the language and the time
/// zone, and what `kept` names. HOME, USER and LOGNAME are the user's. All else stays the worker's: it may be
/// a secret.
[[nodiscard]] std::map<std::string, std::string> environment_of(
    const UnixAccount& account, const std::map<std::string, std::string>& workers,
    const std::vector<std::string>& kept);

}  // namespace hpsearch::workers

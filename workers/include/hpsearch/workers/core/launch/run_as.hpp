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

/// A user of this machine.
struct UnixAccount {
  std::string name;
  std::uint64_t uid = 0;
  std::uint64_t gid = 0;              ///< The user's primary group.
  std::vector<std::uint64_t> groups;  ///< All groups, with the primary one.
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

/// The user of programs: the worker's own user, or (`--run-as submitter`) for each program the user who
/// submitted it.
struct RunAs {
  bool submitter = false;
  std::uint64_t min_uid = 1000;  ///< Users with a smaller uid are refused.
  /// Variables of the worker that programs of other users get, too (`--keep-environment`).
  std::vector<std::string> keep_environment{};
};

/// The user with that name; none if the machine has none. unavailable: the lookup fails now.
using FindAccount = std::function<engine::Result<std::optional<UnixAccount>>(const proto::UnixUser& user)>;

/// The user of the attempt's program; none = the worker's own user.
///
/// bad_request: this worker may not run programs as that user, or runs this kind of program only as its own
/// user. The sentence has the value and what is allowed. unavailable: as `find`.
[[nodiscard]] engine::Result<std::optional<UnixAccount>> account_for(const jobs::LaunchSpec& spec,
                                                                     const RunAs& run_as,
                                                                     const FindAccount& find);

/// The part of the worker's environment that a program of that user gets: PATH, the language and the time
/// zone, and the variables in `kept`. HOME, USER and LOGNAME are the user's. The rest isn't passed, because
/// it may have secrets.
[[nodiscard]] std::map<std::string, std::string> environment_of(
    const UnixAccount& account, const std::map<std::string, std::string>& workers,
    const std::vector<std::string>& kept);

}  // namespace hpsearch::workers

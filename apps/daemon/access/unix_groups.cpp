#include "daemon/access/unix_groups.hpp"

#include <grp.h>

#include <algorithm>

#include "daemon/sign_on/machine_names.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;

}  // namespace

Result<GroupRole> read_group_role(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  const auto role = equals == std::string::npos ? std::nullopt : token_role(text.substr(equals + 1));
  if (!role || equals == 0) {
    return Error{Errc::bad_request, "\"" + text +
                                        "\" must be GROUP=ROLE, with viewer, submitter, operator or admin as "
                                        "the role"};
  }
  std::string name = text.substr(0, equals);
  const auto group = group_named(name);
  if (!group) {
    return Error{Errc::bad_request, "there is no group \"" + name + "\" on this machine"};
  }
  return GroupRole{std::move(name), *group, *role};
}

std::vector<std::uint32_t> groups_of_user(std::uint32_t uid) {
  const auto user = user_with_uid(uid);
  if (!user) {
    return {};
  }
  std::vector<gid_t> groups(64);
  int count = static_cast<int>(groups.size());
  if (::getgrouplist(user->name.c_str(), user->group, groups.data(), &count) < 0) {
    groups.resize(static_cast<std::size_t>(count));  // `count` is the number of groups now.
    if (::getgrouplist(user->name.c_str(), user->group, groups.data(), &count) < 0) {
      return {};
    }
  }
  return {groups.begin(), groups.begin() + count};
}

std::optional<Role> UnixGroups::role_of(std::uint32_t uid, engine::Instant now) {
  if (roles_.empty()) {
    return std::nullopt;
  }
  if (const auto known = known_.find(uid); known != known_.end() && now < known->second.at + remembered_for) {
    return known->second.role;
  }
  std::optional<Role> highest;
  const std::vector<std::uint32_t> groups = groups_of_(uid);
  for (const GroupRole& one : roles_) {
    if (std::find(groups.begin(), groups.end(), one.group) != groups.end()) {
      highest = std::max(highest.value_or(one.role), one.role);
    }
  }
  if (known_.size() >= most_users) {
    known_.clear();
  }
  known_.insert_or_assign(uid, Known{now, highest});
  return highest;
}

}  // namespace hpsearch::daemon

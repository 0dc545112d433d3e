#include "daemon/sign_on/machine_names.hpp"

#include <grp.h>
#include <pwd.h>

#include <cstddef>
#include <vector>

namespace hpsearch::daemon {
namespace {

constexpr std::size_t room_for_an_entry = 65'536;

/// `find` is one of getpwnam_r and its like; `take` copies what is wanted from the entry.
template <class Key, class Entry, class Wanted>
std::optional<Wanted> look_up(int (*find)(Key, Entry*, char*, std::size_t, Entry**), Key key,
                              Wanted (*take)(const Entry&)) {
  std::vector<char> room(room_for_an_entry);
  Entry entry{};
  Entry* found = nullptr;
  return find(key, &entry, room.data(), room.size(), &found) == 0 && found != nullptr
             ? std::optional<Wanted>(take(*found))
             : std::nullopt;
}

MachineUser user_in(const passwd& entry) {
  return {entry.pw_name, entry.pw_uid, entry.pw_gid};
}

std::uint32_t group_in(const group& entry) {
  return entry.gr_gid;
}

}  // namespace

std::optional<MachineUser> user_named(const std::string& name) {
  return look_up(&::getpwnam_r, name.c_str(), &user_in);
}

std::optional<MachineUser> user_with_uid(std::uint32_t uid) {
  return look_up(&::getpwuid_r, uid, &user_in);
}

std::optional<std::uint32_t> group_named(const std::string& name) {
  return look_up(&::getgrnam_r, name.c_str(), &group_in);
}

}  // namespace hpsearch::daemon

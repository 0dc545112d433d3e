#include "hpsearch/workers/determined/bind_mounts.hpp"

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <map>
#include <string>
#include <system_error>

#include "hpsearch/workers/shell/files.hpp"
#include "hpsearch/workers/shell/missing_place.hpp"

namespace hpsearch::workers {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Status;
using engine::Value;
namespace fs = std::filesystem;

namespace {

std::string text_at(const Value& mount, const char* key) {
  const Value* value = mount.at_path(key);
  return value == nullptr || value->as_text() == nullptr ? "" : *value->as_text();
}

/// Whether it is a directory of the private root, which is a separate file system from the
/// machine's.
bool is_private(const fs::path& directory) {
  struct stat root {};
  struct stat here {};
  return ::stat("/", &root) == 0 && ::stat(directory.c_str(), &here) == 0 && root.st_dev == here.st_dev;
}

Status make_place(const fs::path& place, bool is_directory) {
  std::error_code error;
  fs::create_directories(is_directory ? place : place.parent_path(), error);
  if (error) {
    return Error{Errc::unavailable, "bind_mounts: cannot make " + place.string() + ": " + error.message()};
  }
  if (!is_directory) {
    return write_file(place, "", false);
  }
  return Done{};
}

Status mount_one(const std::string& from, const std::string& to, bool read_only) {
  bool done = ::mount(from.c_str(), to.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0;
  if (done && read_only) {
    struct statvfs now {};
    done = ::statvfs(to.c_str(), &now) == 0;
    // A bind mount keeps the restrictions of the machine's mount. statvfs and mount use the same values for
    // flags.
    static_assert(int{ST_NOSUID} == int{MS_NOSUID} && int{ST_NODEV} == int{MS_NODEV} &&
                  int{ST_NOEXEC} == int{MS_NOEXEC});
    const unsigned long forbidden = now.f_flag & static_cast<unsigned long>(ST_NOSUID | ST_NODEV | ST_NOEXEC);
    done = done &&
           ::mount(nullptr, to.c_str(), nullptr,
                   static_cast<unsigned long>(MS_BIND | MS_REMOUNT | MS_RDONLY) | forbidden, nullptr) == 0;
  }
  return done ? Status(Done{})
              : Error{Errc::unavailable,
                      "bind_mounts: cannot mount " + from + " at " + to + ": " + error_text(errno)};
}

}  // namespace

std::map<fs::path, fs::path> missing_places(const Value& mounts) {
  std::map<fs::path, fs::path> places;
  const Value::List* list = mounts.as_list();
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const fs::path from = text_at((*list)[i], "host_path");
    const fs::path to = fs::path(text_at((*list)[i], "container_path")).lexically_normal();
    std::error_code error;
    if (!to.is_absolute() || !fs::is_directory(from, error)) {
      continue;
    }
    const fs::path lacking = lacking_directory(to);
    if (!lacking.empty() && lacking != "/" && may_be_remade(lacking)) {
      places.emplace(to, from);
    }
  }
  return places;
}

Status make_bind_mounts(const Value& mounts, const fs::path& directory) {
  const Value::List* list = mounts.as_list();
  if (list == nullptr) {
    return Done{};
  }
  for (const Value& mount : *list) {
    const fs::path from = text_at(mount, "host_path");
    const fs::path given = text_at(mount, "container_path");
    const fs::path to = (given.is_absolute() ? given : directory / given).lexically_normal();
    std::error_code error;
    const fs::file_status status = fs::status(from, error);
    if (!fs::exists(status)) {
      return Error{Errc::not_found,
                   "bind_mounts: there is no " + from.string() + " on this worker's machine"};
    }
    if (const fs::path lacking = lacking_directory(to); !lacking.empty()) {
      if (given.is_absolute() && !is_private(lacking)) {
        return Error{Errc::not_found, "bind_mounts: there is no " + to.string() +
                                          " on this worker's machine to mount at; "
                                          "make it, or mount below a directory that the root does not have"};
      }
      if (const Status made = make_place(to, fs::is_directory(status)); !made) {
        return made;
      }
    }
    const Value* read_only = mount.at_path("read_only");
    const bool only = read_only != nullptr && read_only->as_bool() != nullptr && *read_only->as_bool();
    if (const Status mounted = mount_one(from.string(), to.string(), only); !mounted) {
      return mounted;
    }
  }
  return Done{};
}

}  // namespace hpsearch::workers

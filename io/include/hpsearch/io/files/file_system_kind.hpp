#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hpsearch::files {

/// Whether state may be on a file system.
enum class Trust : std::uint8_t {
  local,       ///< Yes.
  tested,      ///< A cluster's, whose locks other hosts see: yes, if it passes check_file_system().
  on_request,  ///< Locks or syncs are known to fail, or unknown: with the user's consent, if it passes.
};

struct FileSystemKind {
  std::string name;  ///< For people; "" if it is local.
  Trust trust = Trust::local;
  friend bool operator==(const FileSystemKind&, const FileSystemKind&) = default;
};

/// By the type from statfs(2) and, for FUSE, the type of the mount ("fuse.ceph-fuse").
[[nodiscard]] FileSystemKind file_system_kind(std::uint32_t magic, std::string_view mount_type);

/// The type of that device's mount in the text of /proc/self/mountinfo; "" if there is none.
[[nodiscard]] std::string mount_type_in(std::string_view mountinfo, std::uint32_t major, std::uint32_t minor);

/// The kind for `path`, or for the nearest existing directory above it; local if that is unknown.
[[nodiscard]] FileSystemKind file_system_at(const std::string& path);
using FileSystemAt = FileSystemKind (*)(const std::string& path);

}  // namespace hpsearch::files

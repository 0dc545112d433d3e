#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hpsearch::files {

/// Whether state may lie on a file system.
enum class Trust : std::uint8_t {
  local,       ///< Yes.
  tested,      ///< A cluster's, with locks that other hosts see: yes, if it passes check_file_system().
  on_request,  ///< Locks or syncs are known to fail, or unknown: with the user's consent, if it passes.
};

struct FileSystemKind {
  std::string name;  ///< For people; "" where it is local.
  Trust trust = Trust::local;
  friend bool operator==(const FileSystemKind&, const FileSystemKind&) = default;
};

/// By the type that statfs(2) names and, for FUSE, the type of the mount ("fuse.ceph-fuse").
[[nodiscard]] FileSystemKind file_system_kind(std::uint32_t magic, std::string_view mount_type);

/// The type of the mount of that device in the text of /proc/self/mountinfo; "" when it is not there.
[[nodiscard]] std::string mount_type_in(std::string_view mountinfo, std::uint32_t major, std::uint32_t minor);

/// The kind that `path`, or the nearest existing directory above it, lies on; local if that is unknown.
[[nodiscard]] FileSystemKind file_system_at(const std::string& path);
using FileSystemAt = FileSystemKind (*)(const std::string& path);

}  // namespace hpsearch::files

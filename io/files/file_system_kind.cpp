#include "hpsearch/io/files/file_system_kind.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

namespace hpsearch::files {
namespace {

constexpr std::uint32_t fuse = 0x65735546;

struct Known {
  std::uint32_t magic;
  std::string_view name;
  Trust trust;
};

// Numbers from statfs(2), the kernel's magic.h and the list of GNU coreutils' stat.
constexpr Known known[] = {
    {0x6969, "NFS", Trust::tested},
    {0x0BD00BD0, "Lustre", Trust::tested},
    {0x47504653, "GPFS", Trust::tested},
    {0x19830326, "BeeGFS", Trust::tested},
    {0x00C36400, "CephFS", Trust::tested},
    {0xAAD7AAEA, "PanFS", Trust::tested},
    {0x7461636F, "OCFS2", Trust::tested},
    {0x01161970, "GFS2", Trust::tested},
    {0x517B, "SMB", Trust::on_request},
    {0xFE534D42, "SMB", Trust::on_request},
    {0xFF534D42, "CIFS", Trust::on_request},
    {0x01021997, "9P", Trust::on_request},
    {0x5346414F, "AFS", Trust::on_request},
    {0x6B414653, "AFS", Trust::on_request},
    {0x73757245, "Coda", Trust::on_request},
    {0x20030528, "OrangeFS", Trust::on_request},
    {0x013111A8, "IBRIX", Trust::on_request},
    {0xBEEFDEAD, "StorNext", Trust::on_request},
    {0x61636673, "ACFS", Trust::on_request},
    {0x564C, "NCP", Trust::on_request},
    {0x786F4256, "VirtualBox", Trust::on_request},
    {0xBACBACBC, "VMware", Trust::on_request},
};

constexpr std::pair<std::string_view, std::string_view> known_fuse[] = {
    {"fuse.ceph-fuse", "CephFS"},
    {"fuse.glusterfs", "GlusterFS"},
};

/// The word at `at`; moves `at` behind it and the blank.
std::string_view next_word(std::string_view line, std::size_t& at) {
  const std::size_t end = std::min(line.find(' ', at), line.size());
  const std::string_view word = line.substr(at, end - at);
  at = std::min(end + 1, line.size());
  return word;
}

}  // namespace

FileSystemKind file_system_kind(std::uint32_t magic, std::string_view mount_type) {
  if (magic == fuse) {
    for (const auto& [type, name] : known_fuse) {
      if (type == mount_type) {
        return {std::string(name), Trust::tested};
      }
    }
    const bool says_more = !mount_type.empty() && mount_type != "fuse";
    return {says_more ? "FUSE, " + std::string(mount_type) : "FUSE", Trust::on_request};
  }
  for (const Known& one : known) {
    if (one.magic == magic) {
      return {std::string(one.name), one.trust};
    }
  }
  return {};
}

std::string mount_type_in(std::string_view mountinfo, std::uint32_t major, std::uint32_t minor) {
  // proc(5): "42 27 0:39 / /home rw,nosuid - fuse.sshfs source options", with more words before the dash.
  const std::string device = std::to_string(major) + ":" + std::to_string(minor);
  while (!mountinfo.empty()) {
    const std::string_view line = mountinfo.substr(0, mountinfo.find('\n'));
    mountinfo.remove_prefix(std::min(line.size() + 1, mountinfo.size()));
    std::size_t at = 0;
    next_word(line, at);
    next_word(line, at);
    if (next_word(line, at) != device) {
      continue;
    }
    if (const std::size_t dash = line.find(" - ", at); dash != std::string_view::npos) {
      at = dash + 3;
      return std::string(next_word(line, at));
    }
  }
  return "";
}

FileSystemKind file_system_at(const std::string& path) {
  std::filesystem::path there = path;
  struct statfs found {};
  struct stat device {};
  while (::statfs(there.c_str(), &found) != 0 || ::stat(there.c_str(), &device) != 0) {
    if (errno != ENOENT || !there.has_parent_path() || there == there.parent_path()) {
      return {};
    }
    there = there.parent_path();
  }
  const auto magic = static_cast<std::uint32_t>(found.f_type);
  if (magic != fuse) {
    return file_system_kind(magic, "");
  }
  std::ifstream file("/proc/self/mountinfo");
  const std::string mountinfo{std::istreambuf_iterator<char>(file), {}};
  return file_system_kind(magic, mount_type_in(mountinfo, major(device.st_dev), minor(device.st_dev)));
}

}  // namespace hpsearch::files

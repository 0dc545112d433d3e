#include "hpsearch/io/files/state_place.hpp"

#include <exception>
#include <fstream>

#include "hpsearch/io/files/file_system_check.hpp"

namespace hpsearch::files {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Status;

constexpr const char* note_name = "/network-filesystem";
constexpr const char* other_place = "--state-dir, or the environment variable HPSEARCH_STATE_HOME";

}  // namespace

Status accept_place(const std::string& directory, const FileSystemKind& on, NetworkFileSystems network) {
  if (on.trust != Trust::on_request || network == NetworkFileSystems::allowed) {
    return Done{};
  }
  return Error{Errc::bad_request,
               "the state directory " + directory + " is on a file system (" + on.name +
                   ") whose locks and syncs may be unreliable. Choose a local disk, NFS, Lustre, GPFS, "
                   "BeeGFS or CephFS with " +
                   other_place +
                   "; or give --allow-network-filesystem, which accepts this directory if it passes a test"};
}

Status check_place(const std::string& directory, const FileSystemKind& on) {
  if (on.trust == Trust::local) {
    return Done{};
  }
  FileCalls calls;
  const Status passed = check_file_system(directory, calls);
  if (passed) {
    return Done{};
  }
  return Error{passed.error().code, "the state directory " + directory + " is on " + on.name +
                                        ", which failed a test: " + passed.error().message +
                                        ". Change the mount options (locks need flock on Lustre, and no "
                                        "nolock on NFS), or choose another directory with " +
                                        other_place};
}

std::string warning_of(const std::string& directory, const FileSystemKind& on) {
  return "the state directory " + directory + " is on " + on.name +
         ". Locks, renames and syncs passed a test on this host. What other hosts see, and whether the "
         "server "
         "keeps synced data when it fails, cannot be tested. A local disk is faster and safer; choose it "
         "with " +
         other_place + ". Use the directory from one host at a time. This is shown once per state directory";
}

bool is_warned(const std::string& directory, const FileSystemKind& on) {
  std::string noted;
  std::getline(std::ifstream(directory + note_name), noted);
  return noted == on.name;
}

void note_warning(const std::string& directory, const FileSystemKind& on) noexcept {
  try {
    if (on.trust != Trust::local) {
      std::ofstream(directory + note_name, std::ios::trunc) << on.name << '\n';
    }
  } catch (const std::exception&) {
    return;  // Without memory, the warning is repeated next time.
  }
}

}  // namespace hpsearch::files

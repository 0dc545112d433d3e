#include "hpsearch/workers/shell/transfer/checkpoint_root.hpp"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "hpsearch/proto/wire/checkpoint_owner.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

constexpr std::size_t longest_mark = 4'096;

/// Describes the owners, because two machines often have different numbers for one user.
std::string whose(const std::filesystem::path& root) {
  struct stat info {};
  const std::string us = "this worker runs as uid " + std::to_string(::geteuid());
  return ::stat(root.c_str(), &info) != 0
             ? " (" + us + ")"
             : " (" + us + ", the directory belongs to uid " + std::to_string(info.st_uid) + ")";
}

Status not_shared(const std::filesystem::path& root, const std::string& what) {
  return Error{Errc::not_found,
               root.string() + " " + what +
                   "; mount the daemon's directory there on this machine, or start hpsearchd with "
                   "--checkpoint-root and a directory that all machines have at the same path"};
}

}  // namespace

Status check_checkpoint_root(const std::filesystem::path& root, std::uint64_t store) {
  struct stat info {};
  if (::stat(root.c_str(), &info) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
    return not_shared(root, "is not there");
  }
  const Result<std::string> mark = read_file(root / proto::checkpoint_owner_name, longest_mark);
  if (!mark && mark.error().code == Errc::not_found) {
    return not_shared(
        root, "is not the daemon's directory (" + std::string(proto::checkpoint_owner_name) + " is missing)");
  }
  if (!mark) {
    return Error{mark.error().code, mark.error().message + whose(root)};
  }
  if (*mark != proto::checkpoint_owner(store)) {
    return not_shared(root, "is not the daemon's directory (its " +
                                std::string(proto::checkpoint_owner_name) + " names another store)");
  }
  std::string probe = (root / ".hpsearch-probe-XXXXXX").string();
  if (::mkdtemp(probe.data()) == nullptr) {
    const Error why = file_error("cannot write to", root, errno);
    return Error{why.code, why.message + whose(root)};
  }
  ::rmdir(probe.c_str());
  return Done{};
}

}  // namespace hpsearch::workers

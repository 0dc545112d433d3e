#include "daemon/blobs/checkpoint_root.hpp"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <span>
#include <utility>

#include "daemon/store/files/file_sync.hpp"
#include "daemon/store/files/file_system.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/proto/wire/checkpoint_owner.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

/// Don't write the mark at each start: a full disk has no room for it.
Status mark(const std::string& root, std::uint64_t store) {
  const std::string path = root + "/" + proto::checkpoint_owner_name;
  const std::string text = proto::checkpoint_owner(store);
  const auto there = kernel_files().read(path);
  if (there && std::string(reinterpret_cast<const char*>(there->data()), there->size()) == text) {
    return Done{};
  }
  const std::array parts{std::as_bytes(std::span(text))};
  return write_file_durably(kernel_files(), path, parts);
}

}  // namespace

Result<std::string> prepare_checkpoint_root(const std::string& given, const std::string& usual,
                                            std::uint64_t store) {
  if (given.empty()) {
    if (const Status marked = mark(usual, store); !marked) {
      net::log(net::Level::warning,
               marked.error().message + ": workers will report that they see another directory");
    }
    return usual;
  }
  struct stat info {};
  if (given.front() != '/' || ::stat(given.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return Error{
        Errc::bad_request,
        "--checkpoint-root is \"" + given +
            "\"; it must be the absolute path of a directory that exists on this machine and on all workers"};
  }
  const std::string own = (std::filesystem::path(given) / std::to_string(store)).lexically_normal().string();
  if (::mkdir(own.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{Errc::unavailable, "--checkpoint-root: " + system_error("cannot make " + own).message};
  }
  if (const Status marked = mark(own, store); !marked) {
    return Error{Errc::unavailable, "--checkpoint-root: " + marked.error().message};
  }
  return own;
}

}  // namespace hpsearch::daemon

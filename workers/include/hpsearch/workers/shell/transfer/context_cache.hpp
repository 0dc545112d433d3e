#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/workers/shell/transfer/daemon_access.hpp"

namespace hpsearch::workers {

/// Where a daemon serves contexts: `http` is what it listens on as its WELCOME says, "127.0.0.1:8077" or
/// "unix:///path", and
/// `endpoint` where this worker reached it, "tcp://head:8078". A daemon that listens everywhere is at the
/// endpoint's host.
/// "" when either is no address.
[[nodiscard]] std::string contexts_address(const std::string& http, const std::string& endpoint);

/// Contexts as their daemon packed them, unpacked once on this worker for all attempts:
/// DIRECTORY/BOOT/DIGEST-BYTES/.
///
/// A tree has its name only when it is whole. After a crash of the machine none is trusted, since what was
/// not synced is lost: the name of the boot changes. Trees above `most_bytes` go, those first that no attempt
/// was given for the longest time; the ones in use stay.
///
/// Threads: any. One context is fetched at a time, so two attempts never fetch the same one.
class ContextCache {
 public:
  ContextCache(std::filesystem::path directory, std::string boot, std::uint64_t most_bytes);
  ContextCache(const ContextCache&) = delete;
  ContextCache& operator=(const ContextCache&) = delete;

  /// From now on they are fetched from there.
  void fetch_from(DaemonAccess daemon);

  /// A context's tree, which stays while this is held. No process may change its content.
  using Tree = std::shared_ptr<const std::filesystem::path>;

  /// not_found: the daemon does not have it. unavailable: it could not be fetched or unpacked; later it may.
  /// Cost: fetching it, the first time; call it off the loop.
  [[nodiscard]] engine::Result<Tree> provide(const std::string& digest);

 private:
  struct Entry {
    std::filesystem::path path;
    std::uint64_t bytes = 0;
    std::uint64_t used = 0;  ///< Grows with each use.
    std::weak_ptr<const std::filesystem::path> user;
  };

  [[nodiscard]] Tree find(const std::string& digest);
  [[nodiscard]] engine::Result<std::string> fetch(const std::string& digest) const;
  [[nodiscard]] engine::Status put(const std::string& digest, const std::string& archive);
  void make_room(const std::string& besides);

  std::filesystem::path directory_;
  std::uint64_t most_bytes_;
  std::mutex fetching_;
  mutable std::mutex mutex_;  ///< Guards what follows; taken after fetching_.
  DaemonAccess daemon_;
  std::map<std::string, Entry> entries_;
  std::uint64_t uses_ = 0;
  std::uint64_t drafts_ = 0;
};

}  // namespace hpsearch::workers

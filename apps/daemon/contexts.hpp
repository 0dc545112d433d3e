#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "daemon/store/file_system.hpp"
#include "daemon/store_executor.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/net/http.hpp"
#include "hpsearch/net/timeline.hpp"

namespace hpsearch::daemon {

/// The contexts of experiments (hpsearch/context/context_archive.hpp), each content once:
/// DIRECTORY/DIGEST.tar.
///
/// Threads: on the loop's; checking and writing is done on one of its own.
class Contexts {
 public:
  /// Begins with what lies in `directory`. Files and loop must outlive this. `limit_megabytes` (of 10^6
  /// bytes) is what the files of one may hold.
  Contexts(net::Timeline& loop, FileSystem& files, std::string directory, std::uint64_t limit_megabytes,
           EmployStoreExecutor employ = on_a_thread_of_its_own);
  ~Contexts();
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;

  /// Bytes of the one of that digest; nothing when it is not here.
  [[nodiscard]] std::optional<std::uint64_t> find(const std::string& digest) const;
  [[nodiscard]] std::string path(const std::string& digest) const {
    return directory_ + "/" + digest + ".tar";
  }

  /// Where archives may be written while they come; made by the constructor.
  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }

  /// Takes one in; when `answer` hears of it, it is durable. bad_request: it is not what its digest says, not
  /// as contexts are made, or too large. unavailable: it cannot be written.
  using Answer = std::function<void(const engine::Status&)>;
  void take(std::string digest, std::shared_ptr<const net::UploadedFile> archive, Answer answer);

  /// Removes those that came more than a week ago and that none of `named` is, and what an interrupted take()
  /// left.
  void keep_only(const std::set<std::string>& named);

  /// No request for a larger one need be read to its end.
  [[nodiscard]] std::uint64_t most_bytes() const noexcept;

 private:
  struct Shared;
  bool work();

  net::Timeline& loop_;
  FileSystem& files_;
  std::string directory_;
  std::uint64_t limit_megabytes_;
  std::map<std::string, std::uint64_t> known_;  ///< Digest → bytes.
  std::shared_ptr<Shared> shared_;              ///< With the thread, and with what it posts to the loop.
  std::unique_ptr<StoreExecutor> thread_;
};

}  // namespace hpsearch::daemon

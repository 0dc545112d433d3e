#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "daemon/access/scope.hpp"
#include "daemon/store/files/file_system.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/io/net/background.hpp"
#include "hpsearch/io/net/timeline.hpp"

namespace hpsearch::daemon {

/// The contexts of experiments (hpsearch/io/archive/context_archive.hpp), each content once:
/// DIRECTORY/DIGEST.tar, and DIRECTORY/DIGEST.upload until an experiment names it.
///
/// A digest alone gives no access: a client may name a context that it uploaded itself in the last hour.
/// Until an experiment names it, its bytes count for the clients that uploaded it, and it is removed after
/// that hour.
///
/// Threads: on the loop's; archives are checked and written beside it.
class Contexts {
 public:
  /// Runs one task at a time beside the loop, as net::Background does.
  using RunBeside = std::function<void(net::Background::Task task)>;

  /// Begins with the content of `directory`. Files and loop must outlive this; no task may run when this is
  /// destroyed. `limit_megabytes` (of 10^6 bytes) limits the files of one context.
  Contexts(net::Timeline& loop, FileSystem& files, std::string directory, std::uint64_t limit_megabytes,
           RunBeside run_beside);
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;

  static constexpr engine::Duration uploads_kept_for = engine::Duration::seconds(3600);

  /// Size of the context with this digest; null if it is not stored.
  [[nodiscard]] std::optional<std::uint64_t> find(const std::string& digest) const;
  [[nodiscard]] std::string path(const std::string& digest) const;

  /// Whether that client uploaded it in the last hour; if so, the hour begins again.
  [[nodiscard]] bool was_brought_by(const std::string& digest, const std::string& client);
  /// Bytes of such uploads: of one client, and of clients that may submit to that workspace, but not to all.
  [[nodiscard]] std::uint64_t uploaded_by(const std::string& client) const;
  [[nodiscard]] std::uint64_t uploaded_to(std::string_view workspace) const;

  /// Where archives may be written while they arrive; the constructor makes it.
  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }

  /// Stores a context; it is durable when `answer` is called. bad_request: its digest differs, it is not made
  /// as contexts are, or it is too large. unavailable: it cannot be written.
  using Answer = std::function<void(const engine::Status&)>;
  struct Client {
    std::string name;
    Scope scope;
  };
  void take(std::string digest, std::shared_ptr<const net::UploadedFile> archive, Client client,
            Answer answer);

  /// Records that an experiment names it: it no longer counts as an upload.
  void note_use(const std::string& digest);
  /// Removes contexts that are not in `named`: uploads an hour after they last arrived, and contexts that an
  /// experiment named before a week after they arrived. Must be called now and then.
  void keep_only(const std::set<std::string>& named);

  /// A request with a larger body need not be read to its end.
  [[nodiscard]] std::uint64_t most_bytes() const noexcept;

 private:
  struct Bringer {
    engine::Instant at;  ///< Time of the last upload.
    Scope scope{};
  };
  struct Known {
    std::uint64_t bytes = 0;
    bool is_used = false;  ///< An experiment names it, or named it.
    engine::Instant came;
    std::map<std::string, Bringer> brought_by{};  ///< By client; empty after a restart.
  };
  [[nodiscard]] engine::Status store(const std::string& digest, const net::UploadedFile& archive,
                                     bool is_here) const;
  void note_bringer(const std::string& digest, std::uint64_t bytes, Client client);

  net::Timeline& loop_;
  FileSystem& files_;
  std::string directory_;
  std::uint64_t limit_megabytes_;
  RunBeside run_beside_;
  std::map<std::string, Known> known_;  ///< By digest.
};

}  // namespace hpsearch::daemon

#include "hpsearch/workers/shell/transfer/context_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/io/archive/context_archive.hpp"
#include "hpsearch/io/files/sha256.hpp"
#include "hpsearch/io/files/tree.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using files::Directory;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::seconds patience_with_knocking = 10s;
constexpr std::uint64_t bytes_at_once = std::uint64_t{8} << 20U;
constexpr std::chrono::seconds patience_with_piece = 60s;  // At 250 kB/s it takes 34 s.
constexpr int most_tries = 3;                              // For one piece.
constexpr std::chrono::milliseconds next_piece_try_after = 500ms;
// However large the daemon may take them.
constexpr std::uint64_t largest_archive = context::most_archive_bytes(context::largest_limit_megabytes);

/// The digest and the bytes that a tree's name tells; no digest when it is none.
std::pair<std::string, std::uint64_t> read_name(const std::string& name) {
  const std::string digest = name.substr(0, 64);
  if (!files::is_sha256(digest) || name.size() < 66 || name[64] != '-') {
    return {};
  }
  const auto bytes = engine::number_in<std::uint64_t>(std::string_view(name).substr(65));
  return bytes ? std::pair(digest, *bytes) : std::pair<std::string, std::uint64_t>();
}

void touch(const fs::path& path) noexcept {
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

void remove_from(const fs::path& directory, const std::function<bool(const std::string& name)>& which) {
  const Result<Directory> here = Directory::open(directory);
  const auto entries = here ? here->entries() : Result<std::vector<files::Entry>>(here.error());
  for (std::size_t i = 0; entries && i < entries->size(); ++i) {
    if (const std::string& name = (*entries)[i].name; which(name)) {
      static_cast<void>(files::remove_tree(*here, name).has_value());
    }
  }
}

}  // namespace

std::string contexts_address(const std::string& http, const std::string& endpoint) {
  if (http.starts_with("unix://")) {
    return http;
  }
  constexpr std::string_view tls = "https://";
  const std::size_t start = http.starts_with(tls) ? tls.size() : 0;
  const std::size_t scheme = endpoint.find("://");
  const std::size_t port = http.rfind(':');
  const std::size_t end = endpoint.rfind(':');
  if (scheme == std::string::npos || port == std::string::npos || port < start || end <= scheme) {
    return "";
  }
  const std::string host = http.substr(start, port - start);
  const bool everywhere = host == "0.0.0.0" || host == "[::]" || host == "*";
  return everywhere
             ? http.substr(0, start) + endpoint.substr(scheme + 3, end - scheme - 3) + http.substr(port)
             : http;
}

ContextCache::ContextCache(fs::path directory, std::string boot, std::uint64_t most_bytes)
    : directory_(directory / (boot.empty() ? "boot" : boot)), most_bytes_(most_bytes) {
  remove_from(directory, [this](const std::string& name) { return name != directory_.filename(); });
  // Half unpacked when an earlier agent died.
  remove_from(directory_, [](const std::string& name) { return read_name(name).first.empty(); });
  std::multimap<fs::file_time_type, std::pair<std::string, Entry>> found;
  std::error_code error;
  for (fs::directory_iterator at(directory_, error), end; !error && at != end; at.increment(error)) {
    auto [digest, bytes] = read_name(at->path().filename().string());
    std::error_code ignored;
    found.emplace(at->last_write_time(ignored),
                  std::pair(std::move(digest), Entry{at->path(), bytes, 0, {}}));
  }
  for (auto& [when, entry] : found) {
    entry.second.used = ++uses_;
    entries_.insert(std::move(entry));
  }
}

void ContextCache::fetch_from(DaemonAccess daemon) {
  const std::scoped_lock lock(mutex_);
  daemon_ = std::move(daemon);
}

Result<ContextCache::Tree> ContextCache::provide(const std::string& digest) {
  if (Tree tree = find(digest)) {
    return tree;
  }
  const std::scoped_lock one_at_a_time(fetching_);
  if (Tree tree = find(digest)) {
    return tree;
  }
  const Result<std::string> archive = fetch(digest);
  if (!archive) {
    return archive.error();
  }
  if (const Status put_there = put(digest, *archive); !put_there) {
    return put_there.error();
  }
  Tree tree = find(digest);
  make_room(digest);
  return tree;
}

ContextCache::Tree ContextCache::find(const std::string& digest) {
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(digest);
  std::error_code error;
  if (found == entries_.end()) {
    return nullptr;
  }
  Entry& entry = found->second;
  if (!fs::is_directory(fs::symlink_status(entry.path, error))) {
    entries_.erase(found);  // Somebody tidied up.
    return nullptr;
  }
  entry.used = ++uses_;
  touch(entry.path);
  Tree tree = entry.user.lock();
  if (tree == nullptr) {
    tree = std::make_shared<const fs::path>(entry.path);
    entry.user = tree;
  }
  return tree;
}

Result<std::string> ContextCache::fetch(const std::string& digest) const {
  DaemonAccess daemon;
  {
    const std::scoped_lock lock(mutex_);
    daemon = daemon_;
  }
  const auto failed = [&](Errc code, const std::string& why) {
    return Error{code, "cannot fetch the context " + digest.substr(0, 12) + " from the daemon: " + why};
  };
  if (daemon.address.empty()) {
    return failed(Errc::unavailable, "it has announced no HTTP address");
  }
  const std::string target = "/api/v1/contexts/" + digest;
  // Checks first whether the daemon answers: an outage is noticed soon, while a large context may take time.
  const auto there = ask(daemon, {.method = "HEAD", .target = target, .patience = patience_with_knocking});
  if (!there) {
    return failed(Errc::unavailable,
                  there.error().message +
                      ". The daemon must run, and this machine must reach the address in its --http");
  }
  if (there->status == 404) {
    return failed(Errc::not_found, "it does not have the context; copy " + digest +
                                       ".tar to contexts/ of its state directory, or submit again");
  }
  if (there->status != 200) {
    return failed(Errc::unavailable, "it answered with status " + std::to_string(there->status));
  }
  const std::uint64_t bytes = there->content_length.value_or(0);
  if (bytes > largest_archive) {
    return failed(Errc::unavailable, "it announced " + std::to_string(bytes) +
                                         " bytes; a context has at most " + std::to_string(largest_archive));
  }
  std::string archive;
  for (int tries = 0; archive.size() < bytes;) {
    const std::uint64_t piece = std::min(bytes_at_once, bytes - archive.size());
    const auto got = ask(daemon, {.method = "GET",
                                  .target = target,
                                  .patience = patience_with_piece,
                                  .limit = {piece},
                                  .header = net::range_header(archive.size(), piece)});
    if (got && (got->status == 200 || got->status == 206) && !got->body.empty()) {
      archive += got->body;
      tries = 0;
    } else if (++tries == most_tries || (got && !may_help_later(*got))) {
      return failed(Errc::unavailable, got ? problem_in(*got) : got.error().message);
    } else {
      std::this_thread::sleep_for(next_piece_try_after);
    }
  }
  if (files::sha256_of(archive) != digest) {
    return failed(Errc::unavailable, "what came has another digest");
  }
  return archive;
}

Status ContextCache::put(const std::string& digest, const std::string& archive) {
  const std::string name = digest + "-" + std::to_string(archive.size());
  const std::string draft = "draft-" + std::to_string(::getpid()) + "-" + std::to_string(++drafts_);
  Status done = make_directories(directory_);
  const Result<Directory> here = done ? Directory::open(directory_) : done.error();
  done = here ? here->make_directory(draft) : Status(here.error());
  const Result<Directory> tree = done ? here->directory(draft) : done.error();
  done = tree ? context::unpack(archive, *tree) : Status(tree.error());
  if (done) {
    done = files::move_entry(*here, draft, *here, name);
    if (!done && here->directory(name)) {
      done = Done{};  // Somebody else has put it there meanwhile.
    }
  }
  if (here) {
    static_cast<void>(files::remove_tree(*here, draft).has_value());
  }
  if (!done) {
    return Error{Errc::unavailable, done.error().message};
  }
  const fs::path place = directory_ / name;
  const std::scoped_lock lock(mutex_);
  entries_[digest] = Entry{place, archive.size(), ++uses_, {}};
  return Done{};
}

void ContextCache::make_room(const std::string& besides) {
  std::vector<fs::path> gone;
  {
    const std::scoped_lock lock(mutex_);
    std::uint64_t bytes = 0;
    std::map<std::uint64_t, std::string> by_use;
    for (const auto& [digest, entry] : entries_) {
      bytes += entry.bytes;
      if (digest != besides && entry.user.expired()) {
        by_use.emplace(entry.used, digest);
      }
    }
    for (const auto& [used, digest] : by_use) {
      if (bytes <= most_bytes_) {
        break;
      }
      const auto found = entries_.find(digest);
      bytes -= found->second.bytes;
      gone.push_back(found->second.path);
      entries_.erase(found);
    }
  }
  const Result<Directory> here = Directory::open(directory_);
  for (std::size_t i = 0; here && i < gone.size(); ++i) {
    const std::string name = gone[i].filename().string();
    // Another name at once: half of it must not be taken for the whole.
    const bool aside = files::move_entry(*here, name, *here, name + ".gone").has_value();
    static_cast<void>(files::remove_tree(*here, aside ? name + ".gone" : name).has_value());
  }
}

}  // namespace hpsearch::workers

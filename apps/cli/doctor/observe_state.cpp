#include <fcntl.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <set>

#include "cli/client/state_directory.hpp"
#include "cli/doctor/observe.hpp"
#include "daemon/keys/worker_keys.hpp"
#include "daemon/store/files/blob_place.hpp"
#include "daemon/store/files/disk_space.hpp"
#include "daemon/store/files/owner_record.hpp"
#include "daemon/store/sqlite_schema.hpp"
#include "hpsearch/io/files/file_system_kind.hpp"
#include "hpsearch/io/net/tls.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t most_syncs = 200;
constexpr std::chrono::seconds longest_for_syncs{3};
constexpr std::size_t most_entries = 2'000;

/// Times of writes of 4 KiB with a sync, to a file without a name.
std::vector<double> times_of_syncs(const fs::path& directory) {
  std::vector<double> millis;
  const int file = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) {
    return millis;
  }
  const std::array<char, 4'096> block{};
  const Clock::time_point end = Clock::now() + longest_for_syncs;
  while (millis.size() < most_syncs && Clock::now() < end) {
    const Clock::time_point begin = Clock::now();
    const auto offset = static_cast<off_t>(millis.size() * block.size());
    if (::pwrite(file, block.data(), block.size(), offset) < 0 || ::fdatasync(file) != 0) {
      break;
    }
    millis.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  ::close(file);
  std::sort(millis.begin(), millis.end());
  return millis;
}

/// Calls `look` with up to most_entries entries; links are not followed.
template <class Look>
void each_entry(const fs::path& directory, Look look) {
  std::error_code error;
  std::size_t seen = 0;
  for (fs::directory_iterator at(directory, error), end; !error && at != end && seen < most_entries;
       at.increment(error), ++seen) {
    struct stat info {};
    if (::lstat(at->path().c_str(), &info) == 0) {
      look(at->path(), info);
    }
  }
}

/// The number in the header of an SQLite file (PRAGMA user_version).
std::optional<std::uint32_t> format_of(const fs::path& store) {
  std::array<char, 64> head{};
  std::ifstream in(store, std::ios::binary);
  if (!in.read(head.data(), head.size()) || std::string_view(head.data()) != "SQLite format 3") {
    return std::nullopt;
  }
  std::uint32_t number = 0;
  for (std::size_t i = 60; i < 64; ++i) {
    number = (number << 8U) | static_cast<unsigned char>(head[i]);
  }
  return number;
}

double age_in_days(const fs::path& path) {
  struct statx info {};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_BTIME, &info) != 0 || (info.stx_mask & STATX_BTIME) == 0) {
    return 0;
  }
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  return (now.count() - static_cast<double>(info.stx_btime.tv_sec)) / 86'400;
}

std::uint64_t size_of(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

std::optional<SeenCertificate> certificate_in(const fs::path& directory) {
  const fs::path certificate = directory / "tls.crt";
  const fs::path key = directory / "tls.key";
  std::error_code error;
  if (!fs::exists(certificate, error) || ::access(key.c_str(), R_OK) != 0) {
    return std::nullopt;
  }
  const auto identity = net::TlsIdentity::from_files(certificate.string(), key.string());
  if (!identity) {
    return SeenCertificate{.problem = identity.error().message};
  }
  std::array<char, 256> host{};
  const bool has_name = ::gethostname(host.data(), host.size() - 1) == 0;
  return SeenCertificate{"", identity->valid_for().count(), has_name && identity->names(host.data())};
}

void look_at_checkpoints(const fs::path& root, StateFacts& facts) {
  facts.checkpoints = seen_file(root);
  if (!facts.checkpoints) {
    return;
  }
  facts.checkpoints_are_writable = ::access(root.c_str(), R_OK | W_OK | X_OK) == 0;
  std::set<std::uint32_t> owners;
  each_entry(root, [&owners](const fs::path&, const struct stat& info) { owners.insert(info.st_uid); });
  facts.checkpoint_owners.assign(owners.begin(), owners.end());
}

}  // namespace

fs::path daemon_directory_in(const fs::path& directory) {
  const StateDirectory of_run(directory);
  std::error_code error;
  return fs::is_directory(of_run.daemon(), error) ? of_run.daemon() : directory;
}

std::optional<StateFacts> observe_state(const fs::path& given,
                                        const std::optional<std::string>& checkpoint_root) {
  const fs::path directory = daemon_directory_in(given);
  const auto seen = seen_file(directory);
  if (!seen || ::access(directory.c_str(), R_OK | X_OK) != 0) {
    return std::nullopt;
  }
  StateFacts facts;
  facts.directory = *seen;
  for (const char* name : {"curve.key", "worker_keys", "tokens.json", "secrets.key", "tls.key"}) {
    if (auto file = seen_file(directory / name)) {
      facts.secrets.push_back(*std::move(file));
    }
  }
  each_entry(directory, [&facts](const fs::path& path, const struct stat& info) {
    if (info.st_uid != facts.directory.uid && path.filename() != "checkpoints") {
      facts.of_other_users.push_back({path.string(), info.st_mode & 07777U, info.st_uid});
    }
  });
  const files::FileSystemKind kind = files::file_system_at(directory.string());
  facts.network_file_system = kind.name;
  facts.is_trusted_on_request = kind.trust == files::Trust::on_request;
  if (const auto space = daemon::disk_space_at(directory.string())) {
    facts.free_bytes = space->free;
    facts.total_bytes = space->total;
  }
  if (const auto elsewhere = daemon::owner_elsewhere(directory.string(), daemon::this_owner());
      elsewhere && *elsewhere) {
    facts.owner_elsewhere = (*elsewhere)->owner.host;
  }
  facts.is_locked = lock_holder(directory / "lock").has_value();
  facts.has_addresses = read_daemon_file(directory).has_value();
  facts.sync_millis = times_of_syncs(directory);
  const fs::path store = directory / "events.db";
  facts.store_format = format_of(store);
  facts.own_store_format = daemon::format_version;
  facts.store_bytes = size_of(store);
  facts.store_log_bytes = size_of(directory / "events.db-wal");
  facts.store_age_days = age_in_days(store);
  const auto blobs = daemon::blobs_of(directory.string());
  each_entry(fs::path(blobs ? *blobs : directory.string()) / "contexts",
             [&facts](const fs::path&, const struct stat& info) {
               facts.context_bytes += static_cast<std::uint64_t>(info.st_size);
             });
  facts.certificate = certificate_in(directory);
  look_at_checkpoints(checkpoint_root ? fs::path(*checkpoint_root) : directory / "checkpoints", facts);
  const daemon::WorkerKeys keys(directory.string());
  if (const auto list =
          ::access(keys.path().c_str(), R_OK) == 0
              ? keys.list()
              : engine::Result<std::vector<daemon::WorkerKey>>(std::vector<daemon::WorkerKey>())) {
    facts.worker_keys.emplace();
    for (const daemon::WorkerKey& key : *list) {
      facts.worker_keys->push_back(key.name);
    }
  }
  return facts;
}

}  // namespace hpsearch::cli

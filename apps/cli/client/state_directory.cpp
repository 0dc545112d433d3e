#include "cli/client/state_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <utility>

#include "cli/render/text.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/files/replace_file.hpp"
#include "hpsearch/proto/api/daemon_file.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

struct flock whole_file(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

pid_t pid_in(int descriptor) {
  char text[32] = {};
  const ssize_t got = ::pread(descriptor, text, sizeof text - 1, 0);
  return got > 0 ? static_cast<pid_t>(std::atol(text)) : 0;
}

std::optional<std::string> read_file(const std::filesystem::path& path, std::size_t most) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return std::nullopt;
  }
  std::string text;
  char part[16 * 1024];
  while (text.size() <= most && (in.read(part, sizeof part) || in.gcount() > 0)) {
    text.append(part, static_cast<std::size_t>(in.gcount()));
  }
  return text;
}

Outcome<engine::Done> done_or(const std::optional<files::FileFailure>& failed) {
  return failed ? Outcome<engine::Done>(
                      storage_failure(failed->doing + " " + failed->path.string(), failed->error))
                : Outcome<engine::Done>(engine::Done{});
}

}  // namespace

bool StateDirectory::has_store() const {
  std::error_code ignored;
  return std::filesystem::exists(daemon() / "events.db", ignored);
}

Outcome<engine::Done> make_private_directory(const std::filesystem::path& path) {
  return done_or(files::make_private_directory(path));
}

Outcome<FileLock> FileLock::take(const std::filesystem::path& file, const std::string& what) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return storage_failure("cannot open " + file.string(), errno);
  }
  struct flock lock = whole_file(F_WRLCK);
  if (::fcntl(descriptor, F_OFD_SETLK, &lock) != 0) {
    const int error = errno;
    const pid_t holder = pid_in(descriptor);
    ::close(descriptor);
    if (error == EAGAIN || error == EACCES) {
      return conflict_failure(what + " is in use by another run" +
                              (holder > 0 ? " (process " + std::to_string(holder) + ")" : ""));
    }
    return storage_failure("cannot lock " + file.string(), error);
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(descriptor, 0) != 0 || ::pwrite(descriptor, pid.data(), pid.size(), 0) < 0) {
    const int error = errno;
    ::close(descriptor);
    return storage_failure("cannot write " + file.string(), error);
  }
  return FileLock(descriptor);
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {
}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

std::optional<pid_t> lock_holder(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) {
    return std::nullopt;
  }
  struct flock lock = whole_file(F_WRLCK);
  std::optional<pid_t> holder;
  if (::fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK) {
    holder = pid_in(descriptor);
  }
  ::close(descriptor);
  return holder;
}

Outcome<std::optional<RunRecord>> load_run_record(const StateDirectory& state) {
  const std::optional<std::string> text = read_file(state.run_file(), 4UL * 1024 * 1024);
  if (!text) {
    return std::optional<RunRecord>();
  }
  const engine::Result<Value> parsed = proto::parse_json(*text, {4UL * 1024 * 1024, 64, 400'000});
  auto record = parsed ? proto::decode_value<RunRecord>(*parsed) : engine::Result<RunRecord>(parsed.error());
  if (!record) {
    return Failure{Exit::failed, engine::Errc::corrupt,
                   state.run_file().string() + " cannot be read: " + record.error().message +
                       "; --fresh moves the directory aside and starts a new search"};
  }
  return std::optional<RunRecord>(*std::move(record));
}

Outcome<engine::Done> save_run_record(const StateDirectory& state, const RunRecord& record) {
  return done_or(files::replace_file(state.run_file(), proto::pretty_json(proto::encode_value(record)) + "\n",
                                     files::Durability::of_the_disk, files::Readers::owner));
}

std::optional<DaemonAddresses> read_daemon_file(const std::filesystem::path& daemon_directory) {
  const std::optional<std::string> text = read_file(daemon_directory / proto::daemon_file_name, 64 * 1024);
  if (!text) {
    return std::nullopt;
  }
  const engine::Result<Value> parsed = proto::parse_json(*text);
  const auto file = parsed ? proto::decode_value<proto::DaemonFile>(*parsed)
                           : engine::Result<proto::DaemonFile>(parsed.error());
  if (!file) {
    return std::nullopt;
  }
  return DaemonAddresses{static_cast<pid_t>(file->pid), file->socket, file->workers};
}

Outcome<std::filesystem::path> move_aside(const StateDirectory& state) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char stamp[32] = "0";
  if (::localtime_r(&now, &parts) != nullptr) {
    std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &parts);
  }
  const std::string base = state.path().string() + ".old-" + stamp;
  std::filesystem::path target = base;
  std::error_code ignored;
  for (int number = 2; std::filesystem::exists(target, ignored); ++number) {
    target = base + "-" + std::to_string(number);
  }
  if (::rename(state.path().c_str(), target.c_str()) != 0) {
    return storage_failure("cannot move " + state.path().string() + " aside", errno);
  }
  return target;
}

Failure storage_failure(const std::string& doing, int error) {
  const bool disk = error == ENOSPC || error == EDQUOT || error == EIO || error == EROFS;
  std::string message = doing + ": " + std::strerror(error);
  if (error == ENOSPC || error == EDQUOT) {
    message += "; free some space, then run the same command again";
  }
  return Failure{disk ? Exit::storage : Exit::failed, engine::Errc::unavailable, std::move(message)};
}

}  // namespace hpsearch::cli

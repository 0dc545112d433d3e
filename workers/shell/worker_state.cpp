#include "hpsearch/workers/shell/worker_state.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <exception>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/io/files/file_system_kind.hpp"
#include "hpsearch/io/files/random_bytes.hpp"
#include "hpsearch/io/files/socket_directory.hpp"
#include "hpsearch/io/files/tree.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/events/stored.hpp"
#include "hpsearch/workers/core/devices.hpp"
#include "hpsearch/workers/shell/json_file.hpp"
#include "hpsearch/workers/shell/processes/process_table.hpp"
#include "hpsearch/workers/shell/shim/local_socket.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::AttemptKey;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using engine::Value;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::seconds longest_dying = 10s;
constexpr mode_t passable_mode = 0711;
constexpr std::size_t longest_slots = std::size_t{4} * 1024 * 1024;
// The limit of a spool: an attempt keeps 256 MiB that are not acknowledged, and about as much again that was
// acknowledged since the spool was rewritten.
constexpr std::size_t longest_spool = std::size_t{2} * 1024 * 1024 * 1024;

Result<Descriptor> lock_file(const fs::path& directory) {
  const fs::path path = directory / "lock";
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file) {
    return file_error("cannot open", path, errno);
  }
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(file.get(), F_OFD_SETLK, &whole) != 0) {
    if (errno != EAGAIN && errno != EACCES) {
      return file_error("cannot lock", path, errno);
    }
    const Result<std::string> holder = read_file(path, 64);
    const std::string pid = holder ? holder->substr(0, holder->find('\n')) : "";
    return Error{Errc::wrong_state, "the state directory " + directory.string() +
                                        " is in use by another hpsearch-worker" +
                                        (pid.empty() ? "" : " (process " + pid + ")") +
                                        "; stop that one, or choose another --state-dir"};
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(file.get(), 0) != 0 ||
      ::pwrite(file.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return file_error("cannot write", path, errno);
  }
  return file;
}

/// The content of worker.json.
struct WorkerIdentity {
  std::string uid;
  std::uint64_t incarnation = 0;
  std::string
      store;  ///< The only store whose orders it follows, in hexadecimal digits; "" = the first that answers.
  std::uint64_t daemon_start = 0;
};

void spell(auto& fields, proto::Is<WorkerIdentity> auto& identity) {
  fields("uid", identity.uid);
  fields("incarnation", identity.incarnation);
  fields.maybe("store", identity.store);
  fields.maybe("daemon_start", identity.daemon_start);
}

std::optional<std::uint64_t> cluster_from(const std::string& text) {
  return text.empty() ? std::optional<std::uint64_t>(0) : engine::number_of_hex(text);
}

/// Makes the content of `place` accessible only to root, except `open` entries. Links aren't followed.
Status close_content(const fs::path& place, bool (*open)(const struct stat& info)) {
  std::error_code error;
  for (fs::directory_iterator at(place, error), end; !error && at != end; at.increment(error)) {
    struct stat info {};
    const fs::path& path = at->path();
    const bool found = ::lstat(path.c_str(), &info) == 0 && !S_ISLNK(info.st_mode);
    if (found && !open(info) && ::chmod(path.c_str(), S_ISDIR(info.st_mode) ? 0700 : 0600) != 0) {
      return file_error("cannot change the mode of", path, errno);
    }
  }
  return error ? Status(file_error("cannot read", place, error)) : Status(Done{});
}

/// The directories with names of attempts; other entries aren't ours.
Result<std::vector<fs::path>> attempt_paths(const fs::path& attempts) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator at(attempts, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool ours = std::count(name.begin(), name.end(), '-') == 2 &&
                      name.find_first_not_of("0123456789-.") == std::string::npos &&
                      engine::read_attempt_label(std::string_view(name).substr(name.rfind('-') + 1));
    if (ours) {
      paths.push_back(at->path());
    }
  }
  if (error) {
    return file_error("cannot read", attempts, error);
  }
  return paths;
}

/// Finds spares of an earlier run. They end with that run, but their children
/// may not.
std::vector<fs::path> spare_paths(const fs::path& spares) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator at(spares, error), end; !error && at != end; at.increment(error)) {
    paths.push_back(at->path());
  }
  return paths;
}

/// The program has replaced the file by a link, a pipe or the like, or the whole directory: this counts as
/// a removed file.
bool is_replaced(const AttemptDirectory& directory, const std::string& name) {
  const Result<files::Directory> root = directory.opened();
  if (!root) {
    return root.error().code == Errc::wrong_state;
  }
  const Result<std::optional<files::Kind>> kind = root->kind(name);
  return kind && (*kind == files::Kind::link || *kind == files::Kind::other);
}

/// Programs may run there, and slots may be in use.
Error unknown_what_runs(const Error& why) {
  return Error{Errc::unavailable, why.message +
                                      "; without it the worker cannot determine the state of its programs, "
                                      "so it does not start. The programs continue"};
}

/// Kills the processes of these attempts, waits until they have exited, and removes files that only running
/// programs need.
Status end_all(const std::vector<AttemptDirectory>& directories) {
  std::vector<ProcessRecord> left;
  for (const AttemptDirectory& directory : directories) {
    if (const auto record = directory.read_process()) {
      left.push_back(*record);
    }
  }
  const auto deadline = std::chrono::steady_clock::now() + longest_dying;
  for (bool first = true;; first = false) {
    const auto all = left.empty() ? std::optional(std::vector<ProcessInfo>()) : all_processes();
    if (!all) {
      return Error{Errc::unavailable,
                   "/proc cannot be read, so what an earlier run of this worker has left behind "
                   "cannot be ended"};
    }
    std::size_t alive = 0;
    std::int64_t example = 0;
    for (const ProcessRecord& record : left) {
      for (const ProcessInfo& process : leaked_processes_of(record, *all)) {
        signal_exactly(process, SIGKILL);
        ++alive;
        example = process.pid;
      }
    }
    if (alive == 0) {
      break;
    }
    if (first) {
      net::log(net::Level::info, "ending " + std::to_string(alive) +
                                     " processes that an earlier run of this worker has left behind");
    }
    if (std::chrono::steady_clock::now() > deadline) {
      return Error{Errc::wrong_state,
                   "process " + std::to_string(example) +
                       ", left by an earlier run of this worker, survives SIGKILL; it probably "
                       "hangs in the kernel, and restarting the machine helps"};
    }
    std::this_thread::sleep_for(10ms);
  }
  for (const ProcessRecord& record : left) {
    ::unlink(record.socket.c_str());
  }
  for (const AttemptDirectory& directory : directories) {
    directory.remove_working_files();
  }
  return Done{};
}

}  // namespace

Result<WorkerState> WorkerState::open(const fs::path& directory) {
  std::error_code error;
  const fs::path absolute = fs::absolute(directory, error).lexically_normal();
  if (error) {
    return file_error("cannot find", directory, error);
  }
  for (const Status& made : {make_private_directory(absolute), make_directories(absolute / "attempts")}) {
    if (!made) {
      return made.error();
    }
  }
  Result<Descriptor> lock = lock_file(absolute);
  if (!lock) {
    return lock.error();
  }
  WorkerState state(absolute, std::move(*lock));
  state.has_sockets_ = files::file_system_at(absolute.string()).trust == files::Trust::local;
  if (const Status read = state.read_identity(); !read && read.error().code != Errc::not_found) {
    return read.error();
  } else if (!read) {
    state.uid_ = files::random_hex(16);
  }
  ++state.incarnation_;
  if (const Status written = state.remember(state.known_); !written) {
    return written.error();
  }
  return state;
}

bool is_open_to_users(const fs::path& state_directory) {
  struct stat info {};
  return ::stat(state_directory.c_str(), &info) == 0 && (info.st_mode & 07777U) == passable_mode;
}

Status WorkerState::open_to_users() const {
  constexpr std::size_t longest_shared =
      60;  // The rest of a socket's path is the attempt's name and the socket's.
  if (!has_sockets_ || directory_.string().size() > longest_shared) {
    return Error{Errc::bad_request, "--run-as submitter: the sockets of programs are in --state-dir, and " +
                                        directory_.string() +
                                        " must be on a local file system and have at most " +
                                        std::to_string(longest_shared) + " bytes"};
  }
  for (fs::path above = directory_.parent_path();; above = above.parent_path()) {
    struct stat info {};
    if (::stat(above.c_str(), &info) != 0 || (info.st_mode & S_IXOTH) == 0) {
      return Error{Errc::bad_request, "--run-as submitter: other users cannot enter " + above.string() +
                                          ", so --state-dir " + directory_.string() +
                                          " is closed to them; choose one such as /var/lib/hpsearch-worker"};
    }
    if (above == above.parent_path()) {
      break;
    }
  }
  Status done = make_directories(setups());
  // Files of an earlier run with --run-as worker belong to root, and others may read them.
  const auto of_a_user = [](const struct stat& info) { return info.st_uid != 0; };
  const auto lets_through = [](const struct stat& info) { return (info.st_mode & 07777U) == passable_mode; };
  for (const auto& [place, open] : std::initializer_list<std::pair<fs::path, bool (*)(const struct stat&)>>{
           {directory_, lets_through}, {attempts(), lets_through}, {setups(), of_a_user}}) {
    done = done ? close_content(place, open) : done;
  }
  for (const fs::path& place : {directory_, attempts(), setups()}) {
    if (done && ::chmod(place.c_str(), passable_mode) != 0) {
      done = file_error("cannot change the mode of", place, errno);
    }
  }
  return done;
}

Status WorkerState::read_identity() {
  const Result<WorkerIdentity> found = read_json_file<WorkerIdentity>(identity());
  if (!found && found.error().code != Errc::corrupt) {
    return found.error();
  }
  const std::optional<std::uint64_t> cluster = found ? cluster_from(found->store) : std::nullopt;
  if (!cluster || found->uid.empty()) {
    return Error{Errc::corrupt, identity().string() +
                                    " does not identify this worker; remove the state directory to start "
                                    "as a new worker"};
  }
  uid_ = found->uid;
  incarnation_ = found->incarnation;
  known_ = {*cluster, found->daemon_start};
  return Done{};
}

Status WorkerState::remember(const KnownDaemon& daemon) const {
  WorkerIdentity all{.uid = uid_, .incarnation = incarnation_, .store = "", .daemon_start = 0};
  if (daemon.cluster != 0) {
    all.store = engine::hex_of(daemon.cluster);
    all.daemon_start = daemon.epoch;
  }
  return write_json_file(identity(), all, true);
}

Result<RememberedSlots> WorkerState::devices() const {
  const fs::path path = directory_ / "slots.json";
  const Result<std::string> text = read_file(path, longest_slots);
  if (!text && text.error().code == Errc::not_found) {
    return RememberedSlots{};
  }
  if (!text) {
    return text.error();
  }
  const Result<Value> value = proto::parse_json(*text);
  Result<RememberedSlots> devices = value ? slots_from(*value) : Result<RememberedSlots>(value.error());
  if (!devices) {
    return Error{Errc::corrupt, path.string() + ": " + devices.error().message};
  }
  return devices;
}

Status WorkerState::keep_devices(const RememberedSlots& devices) const {
  return write_file(directory_ / "slots.json", engine::compact_json(slots_value(devices)) + "\n", true);
}

Result<std::string> WorkerState::socket_path(const AttemptKey& key, std::string_view name) const {
  const AttemptDirectory directory = attempt(key);
  std::string path = (directory.root() / name).string();
  if (has_sockets_ && path.size() <= longest_socket_path) {
    return path;
  }
  const files::SocketDirectory elsewhere = files::SocketDirectory::of(directory_.string());
  if (const Status made = elsewhere.make(); !made) {
    return made.error();
  }
  return (fs::path(elsewhere.path()) / directory.root().filename()).string() + (name == "socket" ? "" : ".a");
}

void WorkerState::tidy_sockets() const noexcept {
  try {
    files::SocketDirectory::of(directory_.string()).remove_if_empty();
  } catch (const std::exception&) {
    return;  // Out of memory; an empty directory stays.
  }
}

Result<std::vector<SpooledAttempt>> WorkerState::take_over() const {
  std::vector<SpooledAttempt> found;
  std::vector<AttemptDirectory> given_up;
  std::vector<std::pair<AttemptDirectory, std::string>> damaged;
  const Result<std::vector<fs::path>> paths = attempt_paths(attempts());
  if (!paths) {
    return unknown_what_runs(paths.error());
  }
  for (const fs::path& path : *paths) {
    const AttemptDirectory directory(path);
    const Result<std::string> text = directory.read("spool", longest_spool);
    if (!text && text.error().code != Errc::not_found && !is_replaced(directory, "spool")) {
      return unknown_what_runs(text.error());
    }
    Result<SpooledAttempt> spooled = text ? read_spool(*text) : Result<SpooledAttempt>(text.error());
    if (spooled && attempt(spooled->spec.key).root() == directory.root()) {
      found.push_back(*std::move(spooled));
      continue;
    }
    if (const Status record = directory.process_can_be_read();
        !record && !is_replaced(directory, "process.json")) {
      return unknown_what_runs(record.error());
    }
    if (text) {
      damaged.emplace_back(directory, spooled ? "it is another attempt's" : spooled.error().message);
    }
    given_up.push_back(directory);
  }
  for (const auto& [directory, why] : damaged) {
    net::log(net::Level::error, directory.root().string() + " is given up and kept as it is: " + why);
    if (const Status aside = directory.set_spool_aside(); !aside) {
      return aside.error();
    }
  }
  for (const fs::path& spare : spare_paths(spares())) {
    given_up.emplace_back(spare);
  }
  if (const Status ended = end_all(given_up); !ended) {
    return ended.error();
  }
  if (const Result<files::Directory> state = files::Directory::open(directory_)) {
    static_cast<void>(files::remove_tree(*state, "spares").has_value());
  }
  return found;
}

}  // namespace hpsearch::workers

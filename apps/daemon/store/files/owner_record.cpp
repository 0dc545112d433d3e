#include "daemon/store/files/owner_record.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <fstream>
#include <optional>
#include <span>
#include <utility>

#include "daemon/store/files/file_system.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/files/random_bytes.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Duration;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

std::string first_line_of(const char* path) {
  std::string line;
  std::getline(std::ifstream(path) >> std::ws, line);
  return line;
}

Result<OwnerRecord> record_at(const std::string& path) {
  const auto bytes = kernel_files().read(path);
  if (!bytes) {
    return bytes.error();
  }
  const auto value = proto::parse_json({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  return value ? proto::decode_value<OwnerRecord>(*value) : Result<OwnerRecord>(value.error());
}

/// Negative if the clock of the host that renewed it is ahead of ours.
Result<Duration> since_changed(const std::string& path) {
  struct stat found {};
  timespec now{};
  if (::stat(path.c_str(), &found) != 0 || ::clock_gettime(CLOCK_REALTIME, &now) != 0) {
    return system_error("cannot look at " + path);
  }
  return Duration::seconds(now.tv_sec - found.st_mtim.tv_sec);
}

std::string file_in(const std::string& directory) {
  return directory + "/owner.json";
}

/// Overwrites the file in place: on a full disk there is no room for another one beside it. A daemon that
/// reads it meanwhile finds an unknown owner, and waits.
bool overwrite(const std::string& path, std::string text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0) {
    return false;
  }
  if (text.size() < static_cast<std::size_t>(found.st_size)) {
    text.resize(static_cast<std::size_t>(found.st_size), '\n');
  }
  return write_all(file.get(), std::as_bytes(std::span(text)), path) && ::fdatasync(file.get()) == 0;
}

std::string whole_seconds(Duration time) {
  return std::to_string(time.in_micros() / 1'000'000);
}

}  // namespace

OwnerRecord this_owner() {
  std::array<char, 256> name{};
  static_cast<void>(::gethostname(name.data(), name.size() - 1));
  // Our JSON numbers are signed.
  return {name.data(), first_line_of("/etc/machine-id"), first_line_of("/proc/sys/kernel/random/boot_id"),
          ::getpid(), files::random_number() >> 1U};
}

bool keeps_out(const OwnerRecord& found, Duration since_renewed, const OwnerRecord& ours) noexcept {
  const bool same_kernel = found.boot == ours.boot;
  const bool same_host = found.host == ours.host && found.machine == ours.machine;
  return !same_kernel && !same_host && since_renewed < owner_counts_for;
}

Result<std::optional<OwnerElsewhere>> owner_elsewhere(const std::string& directory, const OwnerRecord& ours) {
  const std::string path = file_in(directory);
  const auto found = record_at(path);
  if (!found && found.error().code == Errc::not_found) {
    return std::optional<OwnerElsewhere>();
  }
  const auto since = since_changed(path);
  if (!since) {
    return since.error();
  }
  // A later release may have written a file that cannot be read.
  const OwnerRecord owner = found ? *found : OwnerRecord{"an unknown host", "", "", 0, 0};
  return keeps_out(owner, *since, ours) ? std::optional(OwnerElsewhere{owner, *since}) : std::nullopt;
}

OwnerFile::OwnerFile(const std::string& directory, OwnerRecord ours)
    : directory_(directory), path_(file_in(directory)), ours_(std::move(ours)), file_(-1) {
}

Status OwnerFile::check_free() const {
  const auto elsewhere = owner_elsewhere(directory_, ours_);
  if (!elsewhere) {
    return elsewhere.error();
  }
  if (!*elsewhere) {
    return Done{};
  }
  const auto& [owner, since] = **elsewhere;
  const Duration left = Duration::micros(owner_counts_for.in_micros() - since.in_micros());
  return Error{Errc::wrong_state, "the state directory " + directory_ + " is in use by process " +
                                      std::to_string(owner.pid) + " on " + owner.host + ", which wrote " +
                                      path_ + " " + whole_seconds(since) +
                                      " s ago. Stop it there; if that host no longer runs, wait " +
                                      whole_seconds(left) + " s, or give --take-over"};
}

Status OwnerFile::take() {
  const std::string text = engine::compact_json(proto::encode_value(ours_)) + "\n";
  const std::array parts{std::as_bytes(std::span(text))};
  if (auto written = write_file_durably(kernel_files(), path_, parts); !written && !overwrite(path_, text)) {
    return written;
  }
  file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  return file_ ? Status(Done{}) : Status(system_error("cannot open " + path_));
}

bool OwnerFile::is_ours() const {
  const auto found = record_at(path_);
  return found && *found == ours_;
}

Status OwnerFile::renew() {
  const auto found = record_at(path_);
  if (!found && found.error().code == Errc::not_found) {
    return take();
  }
  if (!found || *found != ours_) {
    return Error{Errc::corrupt, path_ + (found ? " is now of process " + std::to_string(found->pid) + " on " +
                                                     found->host + ", which has taken the state directory"
                                               : " was overwritten while this daemon ran")};
  }
  if (const auto since = since_changed(path_); since && *since >= owner_renews_every) {
    ::futimens(file_.get(), nullptr);  // Needs no space, and the descriptor can't be another file.
  }
  return Done{};
}

void OwnerFile::release() noexcept {
  if (is_ours()) {
    ::unlink(path_.c_str());
  }
}

}  // namespace hpsearch::daemon

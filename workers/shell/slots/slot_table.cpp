#include "hpsearch/workers/shell/slots/slot_table.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/io/files/socket_directory.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view ticket_name = "ticket";
constexpr std::string_view lock_name = "lock";
constexpr std::size_t longest_file = std::size_t{256} * 1024;
constexpr std::chrono::milliseconds patience_of_shim{5000};

struct flock whole_file(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

/// Read locks: those of a worker and of its shims don't exclude each other.
bool lock_for_reading(int file) {
  struct flock lock = whole_file(F_RDLCK);
  return ::fcntl(file, F_OFD_SETLK, &lock) == 0;
}

bool is_locked(int file) {
  struct flock lock = whole_file(F_WRLCK);
  return ::fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

std::string file_name(std::string_view slot, std::string_view worker) {
  std::string name;
  for (const char c : slot) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
    name += plain ? c : '_';
  }
  return name + "@" + std::string(worker);
}

std::string text_of(int file) {
  std::string text(longest_file, '\0');
  const ssize_t got = ::pread(file, text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  return text;
}

template <class Record>
std::string json_of(const Record& record) {
  return engine::compact_json(proto::encode_value(record)) + "\n";
}

/// Nothing: another release wrote it, and its lock counts nevertheless.
template <class Record>
std::optional<Record> record_in(const std::string& text) {
  const Result<engine::Value> value = proto::parse_json(text);
  Result<Record> record = value ? proto::decode_value<Record>(*value) : Result<Record>(value.error());
  return record ? std::optional(*std::move(record)) : std::nullopt;
}

std::optional<SlotTable::Turn> turn_at(int lock, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() >= until) {
      return std::nullopt;
    }
    std::this_thread::sleep_for(1ms);
  }
  return SlotTable::Turn(lock);
}

Descriptor open_lock(const fs::path& directory) {
  // Open for reading only: those who watch the directory hear of changes, not of this.
  return Descriptor(
      ::open((directory / lock_name).c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
}

}  // namespace

fs::path slot_table_directory() {
  const char* named = std::getenv("HPSEARCH_SLOT_TABLE");
  return named != nullptr && *named != '\0'
             ? fs::path(named)
             : fs::path("/tmp") / ("hpsearch-slots-" + std::to_string(::geteuid()));
}

Result<SlotTable> SlotTable::open(const fs::path& directory) {
  if (const Status made = files::make_for_this_user(directory, "set HPSEARCH_SLOT_TABLE to such a directory");
      !made) {
    return made.error();
  }
  Descriptor lock = open_lock(directory);
  if (!lock) {
    return file_error("cannot open", directory / lock_name, errno);
  }
  return SlotTable(directory, std::move(lock));
}

SlotTable::Turn::~Turn() {
  if (lock_ >= 0) {
    ::flock(lock_, LOCK_UN);
  }
}

std::optional<SlotTable::Turn> SlotTable::turn(std::chrono::milliseconds patience) const {
  return turn_at(lock_.get(), patience);
}

SlotsOfMachine SlotTable::read() const {
  SlotsOfMachine machine;
  std::error_code error;
  for (fs::directory_iterator at(directory_, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const std::size_t separator = name.find('@');
    const Descriptor file(separator == std::string::npos
                              ? -1
                              : ::open(at->path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file) {
      continue;
    }
    if (!is_locked(file.get())) {
      ::unlink(at->path().c_str());
      continue;
    }
    const std::string text = text_of(file.get());
    if (name.starts_with(std::string(ticket_name) + "@")) {
      if (std::optional<SlotTicket> ticket = record_in<SlotTicket>(text)) {
        machine.tickets.push_back(*std::move(ticket));
      }
    } else {
      machine.claims.push_back(record_in<SlotClaim>(text).value_or(SlotClaim{
          name.substr(0, separator), name.substr(separator + 1), "another search of this user", true}));
    }
  }
  return machine;
}

fs::path SlotTable::claim_file(const std::string& slot, const std::string& worker) const {
  return directory_ / file_name(slot, worker);
}

Status SlotTable::put(const SlotClaim& claim) {
  return write(file_name(claim.slot, claim.worker), json_of(claim));
}

void SlotTable::remove(const SlotClaim& claim) {
  remove(file_name(claim.slot, claim.worker));
}

Status SlotTable::put(const SlotTicket& ticket) {
  return write(file_name(ticket_name, ticket.worker), json_of(ticket));
}

void SlotTable::remove_ticket(const std::string& worker) {
  remove(file_name(ticket_name, worker));
}

Status SlotTable::write(const std::string& name, const std::string& text) {
  const fs::path path = directory_ / name;
  auto known = files_.find(name);
  struct stat held {};
  if (known != files_.end() && (::fstat(known->second.get(), &held) != 0 || held.st_nlink == 0)) {
    files_.erase(known);  // Somebody has removed the file.
    known = files_.end();
  }
  if (known == files_.end()) {
    Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file || !lock_for_reading(file.get())) {
      return file_error("cannot lock", path, errno);
    }
    known = files_.emplace(name, std::move(file)).first;
  }
  const int file = known->second.get();
  if (text_of(file) == text) {
    return Done{};
  }
  if (::pwrite(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
      ::ftruncate(file, static_cast<off_t>(text.size())) != 0) {
    return file_error("cannot write", path, errno);
  }
  return Done{};
}

void SlotTable::remove(const std::string& name) {
  if (files_.erase(name) > 0) {
    ::unlink((directory_ / name).c_str());
  }
}

Result<std::vector<Descriptor>> hold_claims(const std::vector<std::string>& files) {
  std::vector<Descriptor> held;
  if (files.empty()) {
    return held;
  }
  const fs::path directory = fs::path(files.front()).parent_path();
  const Descriptor lock = open_lock(directory);
  const std::optional<SlotTable::Turn> turn = lock ? turn_at(lock.get(), patience_of_shim) : std::nullopt;
  if (!turn) {
    return Error{Errc::unavailable,
                 "cannot lock the slot table " + directory.string() + ": another process has it"};
  }
  for (const std::string& path : files) {
    Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (!file || !lock_for_reading(file.get())) {
      return file_error("the slot is not this search's any more: cannot lock", path, errno);
    }
    held.push_back(std::move(file));
  }
  return held;
}

}  // namespace hpsearch::workers

#include "hpsearch/workers/shell/journal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <span>
#include <utility>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/json.hpp"
#include "hpsearch/proto/stored.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Value;

namespace {

// A record is: length of the body (u32) | CRC-32C of the body (u32) | body. A body is a letter and JSON, or
// for what a program says: 's' | question (u64) | answered (u8) | the line. Numbers are little endian.

constexpr std::size_t head_bytes = 8;
constexpr std::size_t said_bytes = 10;
// A line, or a log tail in JSON, is far shorter; anything longer is no length.
constexpr std::size_t longest_body = 256 * 1024;
constexpr std::size_t read_ahead = 256 * 1024;
// Holes are made of whole blocks; so rarely that it costs nothing.
constexpr std::uint64_t block = 4096;
constexpr std::uint64_t least_hole = 1024 * 1024;

template <class Number>
void put(std::string& to, Number number) {
  for (std::size_t byte = 0; byte < sizeof(Number); ++byte) {
    to.push_back(static_cast<char>(number >> (8 * byte) & 0xFFU));
  }
}

template <class Number>
Number get(std::string_view from) {
  Number number = 0;
  for (std::size_t byte = 0; byte < sizeof(Number); ++byte) {
    number |= static_cast<Number>(static_cast<Number>(static_cast<unsigned char>(from[byte])) << (8 * byte));
  }
  return number;
}

std::uint32_t checksum(std::string_view text) {
  return proto::crc32c(0, std::as_bytes(std::span(text)));
}

std::string spelled(char letter, Value::Map map) {
  return letter + engine::compact_json(Value(std::move(map)));
}

struct Spell {
  std::string operator()(const JournalStarted& started) const {
    return spelled('b', Value::Map{{"means", started.means}});
  }
  std::string operator()(const JournalNotStarted& not_started) const {
    return spelled('n', Value::Map{{"why", not_started.why}});
  }
  std::string operator()(const JournalMessageReceived& said) const {
    std::string body = "s";
    put(body, said.question);
    body.push_back(said.answered ? '\1' : '\0');
    return body + said.line;
  }
  std::string operator()(const JournalStuck& stuck) const {
    return spelled('k', Value::Map{{"pid", stuck.pid}});
  }
  std::string operator()(const JournalEnded& ended) const {
    return spelled('e', Value::Map{{"by_signal", ended.by_signal},
                                   {"code", std::int64_t{ended.code}},
                                   {"asked", ended.asked},
                                   {"out_of_memory", ended.out_of_memory},
                                   {"log_tail", ended.log_tail}});
  }
};

std::string text_in(const Value::Map& map, std::string_view key) {
  const Value* value = map.find(key);
  return value != nullptr && value->as_text() != nullptr ? *value->as_text() : "";
}

std::int64_t integer_in(const Value::Map& map, std::string_view key) {
  const Value* value = map.find(key);
  return value != nullptr && value->as_integer() != nullptr ? *value->as_integer() : 0;
}

bool is_true(const Value::Map& map, std::string_view key) {
  const Value* value = map.find(key);
  return value != nullptr && value->as_bool() != nullptr && *value->as_bool();
}

std::optional<JournalRecord> record_from(std::string_view body) {
  const char letter = body.front();
  body.remove_prefix(1);
  if (letter == 's') {
    if (body.size() < said_bytes - 1) {
      return std::nullopt;
    }
    return JournalMessageReceived{get<std::uint64_t>(body), body[8] != '\0', std::string(body.substr(9))};
  }
  const Result<Value> value = proto::parse_json(body);
  if (!value || value->as_map() == nullptr) {
    return std::nullopt;
  }
  const Value::Map& map = *value->as_map();
  switch (letter) {
    case 'b':
      return JournalStarted{text_in(map, "means")};
    case 'n':
      return JournalNotStarted{text_in(map, "why")};
    case 'k':
      return JournalStuck{integer_in(map, "pid")};
    case 'e':
      return JournalEnded{is_true(map, "by_signal"), static_cast<int>(integer_in(map, "code")),
                          is_true(map, "asked"), is_true(map, "out_of_memory"), text_in(map, "log_tail")};
    default:
      return std::nullopt;
  }
}

struct flock whole_file(int type) {
  struct flock lock {};
  lock.l_type = static_cast<short>(type);
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

Result<JournalWriter> JournalWriter::open(const fs::path& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file) {
    return file_error("cannot write", path, errno);
  }
  struct flock lock = whole_file(F_WRLCK);
  if (::fcntl(file.get(), F_OFD_SETLK, &lock) != 0) {
    if (errno == EAGAIN || errno == EACCES) {
      return Error{Errc::wrong_state, path.string() + " is another keeper's"};
    }
    return file_error("cannot lock", path, errno);
  }
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) {
    return file_error("cannot read", path, errno);
  }
  return JournalWriter(std::move(file), static_cast<std::uint64_t>(info.st_size));
}

/// What follows bytes of a record that is not whole could not be read.
bool JournalWriter::cut_off_torn() {
  if (torn_ && ::ftruncate(file_.get(), static_cast<off_t>(size_)) == 0) {
    torn_ = false;
  }
  return !torn_;
}

bool JournalWriter::append(const JournalRecord& record, bool durable) {
  if (!cut_off_torn()) {
    return false;
  }
  const std::string body = std::visit(Spell{}, record);
  std::string bytes;
  bytes.reserve(head_bytes + body.size());
  put(bytes, static_cast<std::uint32_t>(body.size()));
  put(bytes, checksum(body));
  bytes.append(body);
  if (!write_all(file_.get(), bytes)) {
    const int error = errno;
    torn_ = true;
    cut_off_torn();
    errno = error;
    return false;
  }
  size_ += bytes.size();
  if (durable) {
    // When that fails it is written all the same, and not again: this disk forgets, and the agent's spool
    // says so.
    static_cast<void>(::fdatasync(file_.get()));
  }
  return true;
}

void JournalWriter::drop_before(std::uint64_t position) {
  wanted_from_ = std::max(wanted_from_, std::min(position, size_));
  const std::uint64_t end = wanted_from_ / block * block;
  const std::uint64_t begin = std::max(dropped_, block);
  if (end < begin + least_hole) {
    return;
  }
  if (::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                  static_cast<off_t>(end - begin)) == 0) {
    dropped_ = end;
  }
}

Result<JournalReader> JournalReader::open(const fs::path& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file) {
    return file_error("cannot read", path, errno);
  }
  return JournalReader(std::move(file));
}

bool JournalReader::kept() const noexcept {
  struct flock lock = whole_file(F_WRLCK);
  // When that cannot be told, it is: nobody is killed for it.
  return ::fcntl(file_.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

bool JournalReader::fill(std::uint64_t from, std::size_t bytes) {
  const auto holds = [&] { return from >= held_from_ && from + bytes <= held_from_ + held_.size(); };
  if (holds()) {
    return true;
  }
  held_.resize(std::max(bytes, read_ahead));
  held_from_ = from;
  std::size_t filled = 0;
  while (filled < held_.size()) {
    const ssize_t got =
        ::pread(file_.get(), held_.data() + filled, held_.size() - filled, static_cast<off_t>(from + filled));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      unreadable_ = "cannot read the journal: " + error_text(errno);
    }
    if (got <= 0) {
      break;
    }
    filled += static_cast<std::size_t>(got);
  }
  held_.resize(filled);
  return holds();
}

std::optional<JournalRecord> JournalReader::next(std::uint64_t& position) {
  unreadable_.clear();
  if (!fill(position, head_bytes)) {
    return std::nullopt;
  }
  const auto held = [this](std::uint64_t from, std::size_t bytes) {
    return std::string_view(held_).substr(static_cast<std::size_t>(from - held_from_), bytes);
  };
  const std::string_view head = held(position, head_bytes);
  const std::size_t size = get<std::uint32_t>(head);
  const auto sum = get<std::uint32_t>(head.substr(4));
  if (size == 0 || size > longest_body || !fill(position + head_bytes, size)) {
    return std::nullopt;
  }
  const std::string_view body = held(position + head_bytes, size);
  if (checksum(body) != sum) {
    return std::nullopt;
  }
  std::optional<JournalRecord> record = record_from(body);
  if (record) {
    position += head_bytes + size;
  }
  return record;
}

}  // namespace hpsearch::workers

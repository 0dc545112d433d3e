#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/directory.hpp"
#include "hpsearch/proto/encoding/spell.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

// What a shim saw of its program, in order, in a file. The shim appends; agents read, the present one and
// those after it. A position is a byte of the file and stays what it is.

struct JournalStarted {
  std::string means;  ///< By which everything the program starts is found: "cgroup" or "process table".
};
struct JournalNotStarted {
  std::string why;
};
/// One line of the program; `question` counts those that want an answer, 0 is a line of its output.
struct JournalMessageReceived {
  std::uint64_t question = 0;
  bool answered = false;
  std::string line;
};
/// Something of the program outlives SIGKILL.
struct JournalStuck {
  std::int64_t pid = 0;
};
struct JournalEnded {
  bool by_signal = false;
  int code = 0;
  bool asked = false;
  bool out_of_memory = false;
  std::string log_tail;
};
using JournalRecord =
    std::variant<JournalStarted, JournalNotStarted, JournalMessageReceived, JournalStuck, JournalEnded>;

}  // namespace hpsearch::workers

namespace hpsearch::proto {

template <>
inline constexpr const char* tag_of<workers::JournalStarted> = "started";
template <>
inline constexpr const char* tag_of<workers::JournalNotStarted> = "not_started";
template <>
inline constexpr const char* tag_of<workers::JournalMessageReceived> = "said";
template <>
inline constexpr const char* tag_of<workers::JournalStuck> = "stuck";
template <>
inline constexpr const char* tag_of<workers::JournalEnded> = "ended";

}  // namespace hpsearch::proto

namespace hpsearch::workers {

void spell(auto& fields, proto::Is<JournalStarted> auto& started) {
  fields("means", started.means);
}

void spell(auto& fields, proto::Is<JournalNotStarted> auto& not_started) {
  fields("why", not_started.why);
}

void spell(auto& fields, proto::Is<JournalMessageReceived> auto& said) {
  fields.maybe("question", said.question);
  fields.maybe("answered", said.answered);
  fields.bytes("line", said.line);
}

void spell(auto& fields, proto::Is<JournalStuck> auto& stuck) {
  fields("pid", stuck.pid);
}

void spell(auto& fields, proto::Is<JournalEnded> auto& ended) {
  fields.maybe("by_signal", ended.by_signal);
  fields("code", ended.code);
  fields.maybe("asked", ended.asked);
  fields.maybe("out_of_memory", ended.out_of_memory);
  fields.maybe("log_tail", ended.log_tail);
}

/// The end of the file that is written to. Who has it holds the journal's lock, which ends with the process,
/// so that the others know whether a shim lives.
class JournalWriter {
 public:
  /// wrong_state: another process holds it. unavailable: the disk says no.
  [[nodiscard]] static engine::Result<JournalWriter> open(const std::filesystem::path& path);

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// How much of it somebody still wants.
  [[nodiscard]] std::uint64_t wanted() const noexcept { return size_ - wanted_from_; }

  /// All of the record or, with errno set, nothing. `durable` survives a power failure, on a disk that can be
  /// synced.
  bool append(const JournalRecord& record, bool durable);

  /// Gives back the disk space of what lies before `position`; the first record stays. Does nothing on file
  /// systems that cannot.
  void drop_before(std::uint64_t position);

 private:
  JournalWriter(Descriptor file, std::uint64_t size) : file_(std::move(file)), size_(size) {}
  bool cut_off_torn();
  Descriptor file_;
  std::uint64_t size_ = 0;
  std::uint64_t wanted_from_ = 0;
  std::uint64_t dropped_ = 0;  ///< Before it the file has holes.
  bool torn_ = false;          ///< Behind size_ there is a part of a record.
};

/// Reads a journal while it grows.
class JournalReader {
 public:
  /// not_found: there is none (yet).
  [[nodiscard]] static engine::Result<JournalReader> open(const std::filesystem::path& path);
  /// In a directory that programs can write.
  [[nodiscard]] static engine::Result<JournalReader> open(const files::Directory& directory,
                                                          const std::string& name);

  /// A shim holds it.
  [[nodiscard]] bool kept() const noexcept;

  /// The record at `position`, which moves behind it; nothing at the end, also where a record is not whole,
  /// and when the file could not be read.
  [[nodiscard]] std::optional<JournalRecord> next(std::uint64_t& position);
  /// Why the last next() could not read, or "".
  [[nodiscard]] const std::string& unreadable() const noexcept { return unreadable_; }

 private:
  explicit JournalReader(Descriptor file) : file_(std::move(file)) {}
  bool fill(std::uint64_t from, std::size_t bytes);
  Descriptor file_;
  std::uint64_t held_from_ = 0;
  std::string held_;  ///< A piece of the file.
  std::string unreadable_;
};

}  // namespace hpsearch::workers

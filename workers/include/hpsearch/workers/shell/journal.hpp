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
#include "hpsearch/workers/core/program_message.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

// The events of a program, recorded by its shim in order, in a file. The shim appends; agents read, the
// current one and later ones. A position is an offset in the file and never changes.

struct JournalStarted {
  static constexpr const char* type = "started";
  std::string means;  ///< How all processes of the program are found: "cgroup" or "process table".
  static void list_fields(auto& fields, auto& self) { fields("means", self.means); }
};
struct JournalNotStarted {
  static constexpr const char* type = "not_started";
  std::string why;
  static void list_fields(auto& fields, auto& self) { fields("why", self.why); }
};
/// A message of the program; `question` numbers the messages that need an answer; 0 = a line of its output.
struct JournalMessageReceived {
  static constexpr const char* type = "said";
  std::uint64_t question = 0;
  bool answered = false;
  ProgramMessage message;
  static void list_fields(auto& fields, auto& self) {
    fields.maybe("question", self.question);
    fields.maybe("answered", self.answered);
    fields("message", self.message);
  }
};
/// Processes of the program survive SIGKILL.
struct JournalStuck {
  static constexpr const char* type = "stuck";
  std::int64_t pid = 0;
  static void list_fields(auto& fields, auto& self) { fields("pid", self.pid); }
};
struct JournalEnded {
  static constexpr const char* type = "ended";
  bool by_signal = false;
  int code = 0;
  bool asked = false;
  bool out_of_memory = false;
  std::string log_tail;
  static void list_fields(auto& fields, auto& self) {
    fields.maybe("by_signal", self.by_signal);
    fields("code", self.code);
    fields.maybe("asked", self.asked);
    fields.maybe("out_of_memory", self.out_of_memory);
    fields.maybe("log_tail", self.log_tail);
  }
};
using JournalRecord =
    std::variant<JournalStarted, JournalNotStarted, JournalMessageReceived, JournalStuck, JournalEnded>;

/// The writer. Its owner holds the journal's lock, which ends with the process, so that others can check
/// whether the shim runs.
class JournalWriter {
 public:
  /// wrong_state: another process holds it. unavailable: the disk fails.
  [[nodiscard]] static engine::Result<JournalWriter> open(const std::filesystem::path& path);

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// The size of the part that is still needed.
  [[nodiscard]] std::uint64_t wanted() const noexcept { return size_ - wanted_from_; }

  /// Appends all of the record or, with errno set, nothing. `durable` survives a power failure, if the disk
  /// can sync.
  bool append(const JournalRecord& record, bool durable);

  /// Frees the disk space before `position`; the first record stays. Does nothing on file
  /// systems that can't.
  void drop_before(std::uint64_t position);

 private:
  JournalWriter(Descriptor file, std::uint64_t size) : file_(std::move(file)), size_(size) {}
  bool cut_off_torn();
  Descriptor file_;
  std::uint64_t size_ = 0;
  std::uint64_t wanted_from_ = 0;
  std::uint64_t dropped_ = 0;  ///< Before this position the file has holes.
  bool torn_ = false;          ///< After size_ there is a part of a record.
};

/// Reads a journal while it grows.
class JournalReader {
 public:
  /// not_found: there is none (yet).
  [[nodiscard]] static engine::Result<JournalReader> open(const std::filesystem::path& path);
  /// Opens one in a directory that programs can write to.
  [[nodiscard]] static engine::Result<JournalReader> open(const files::Directory& directory,
                                                          const std::string& name);

  /// Whether a shim holds the lock.
  [[nodiscard]] bool kept() const noexcept;

  /// The record at `position`, which moves to the next one; nothing at the end, at an incomplete record,
  /// and if the file could not be read.
  [[nodiscard]] std::optional<JournalRecord> next(std::uint64_t& position);
  /// Why the last next() could not read, or "".
  [[nodiscard]] const std::string& unreadable() const noexcept { return unreadable_; }

 private:
  explicit JournalReader(Descriptor file) : file_(std::move(file)) {}
  bool fill(std::uint64_t from, std::size_t bytes);
  Descriptor file_;
  std::uint64_t held_from_ = 0;
  std::string held_;  ///< A part of the file.
  std::string unreadable_;
};

}  // namespace hpsearch::workers

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hpsearch::workers {

// The messages that an agent and a shim exchange on their socket. Each message is one checked record
// (checked_record.hpp).

/// The answer to a question of the program.
struct AnswerQuestion {
  static constexpr const char* type = "answer";
  std::uint64_t question = 0;
  std::string line;
  static void list_fields(auto& fields, auto& self) {
    fields("question", self.question);
    fields("line", self.line);
  }
};

/// The answer to every report of a lower step, and to every remark, from now on.
struct AnswerBelow {
  static constexpr const char* type = "answer_below";
  std::uint64_t step = 0;  ///< 0: the shim answers nothing.
  std::string line;
  static void list_fields(auto& fields, auto& self) {
    fields("step", self.step);
    fields("line", self.line);
  }
};

/// Ends the program, or makes it write a checkpoint.
struct SendSignal {
  static constexpr const char* type = "signal";
  enum class Which : std::uint8_t { checkpoint, terminate, kill };
  std::uint64_t which = 0;     ///< Which signal.
  std::uint64_t grace_ms = 0;  ///< With `terminate`: time until the program is killed.
  static void list_fields(auto& fields, auto& self) {
    fields("which", self.which);
    fields("grace_ms", self.grace_ms);
  }
};

/// The shim may drop the part of the journal before this position.
struct DropJournal {
  static constexpr const char* type = "drop";
  std::uint64_t before = 0;
  static void list_fields(auto& fields, auto& self) { fields("before", self.before); }
};

/// For a shim with a spare: run the launch order of this attempt's directory.
struct RunAttempt {
  static constexpr const char* type = "run";
  std::string directory;
  static void list_fields(auto& fields, auto& self) { fields.bytes("directory", self.directory); }
};

using ToShim = std::variant<AnswerQuestion, AnswerBelow, SendSignal, DropJournal, RunAttempt>;

/// The journal has grown; or the disk rejects it, which is sent repeatedly.
struct JournalNews {
  static constexpr const char* type = "journal";
  std::string unwritten;  ///< The reason, or "".
  static void list_fields(auto& fields, auto& self) { fields.bytes("unwritten", self.unwritten); }
};

struct SpareEnded {
  static constexpr const char* type = "spare_ended";
  std::string why;
  static void list_fields(auto& fields, auto& self) { fields.bytes("why", self.why); }
};

using ToAgent = std::variant<JournalNews, SpareEnded>;

/// The bytes of a message.
[[nodiscard]] std::string framed(const ToShim& message);
[[nodiscard]] std::string framed(const ToAgent& message);

/// Splits a stream of bytes into messages: ToShim or ToAgent.
template <class Message>
class MessageReader {
 public:
  /// The messages that are complete with these bytes; nothing if the stream is invalid.
  [[nodiscard]] std::optional<std::vector<Message>> feed(std::string_view bytes);

  /// The number of bytes that are missing for the next message, or for its head.
  [[nodiscard]] std::size_t missing() const;

 private:
  std::string held_;
};

}  // namespace hpsearch::workers

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"

namespace hpsearch::workers {

// The messages of a training program, on its socket or as lines on stdout (docs: job contract, "Answers").
// The shim reads the line; the journal and the agent store the message.

/// The maximum length of a line: programs are untrusted.
inline constexpr std::size_t max_message_bytes = 64 * 1024;

/// The program measured metrics.
struct MetricsMessage {
  static constexpr const char* type = "metrics";
  engine::Units step{};
  engine::Metrics metrics;  ///< Nested names are joined by dots, with their group first; sorted, unique.
  std::vector<std::string> ignored;  ///< Names whose values aren't numbers.
  static void list_fields(auto& fields, auto& self) {
    fields("step", self.step);
    fields("metrics", self.metrics);
    fields.maybe("ignored", self.ignored);
  }
};
/// HPSEARCH_CHECKPOINT_DIR has a complete checkpoint.
struct CheckpointMessage {
  static constexpr const char* type = "checkpoint";
  std::optional<engine::Units> step;  ///< By default the step of its last metrics.
  static void list_fields(auto& fields, auto& self) { fields.maybe("step", self.step); }
};
/// Progress or a log line: for people only.
struct RemarkMessage {
  static constexpr const char* type = "remark";
  std::string log;               ///< The line; "" for progress.
  std::optional<int> percent{};  ///< Progress of the current work, 0 ... 100, if it was reported.
  static void list_fields(auto& fields, auto& self) {
    fields.maybe("log", self.log);
    fields.maybe("percent", self.percent);
  }
};
/// A pattern of the experiment found text that is no number.
struct UnreadableMessage {
  static constexpr const char* type = "unreadable";
  std::string metric;
  std::string text;
  std::string why;  ///< The message of first_number().
  static void list_fields(auto& fields, auto& self) {
    fields("metric", self.metric);
    fields("text", self.text);
    fields("why", self.why);
  }
};
/// A line that looks like a report but isn't one.
struct LookalikeMessage {
  static constexpr const char* type = "malformed_report";
  std::string line;
  std::string why;
  static void list_fields(auto& fields, auto& self) {
    fields("line", self.line);
    fields("why", self.why);
  }
};
/// A line with the search's metric, which no pattern and no report reads.
struct UnreadMessage {
  static constexpr const char* type = "unread";
  std::string line;
  std::string pattern;  ///< A pattern that reads such lines.
  static void list_fields(auto& fields, auto& self) {
    fields("line", self.line);
    fields("pattern", self.pattern);
  }
};
/// A pattern of the experiment may match another number than its author intends.
struct DoubtfulMessage {
  static constexpr const char* type = "doubtful";
  std::string metric;
  std::string line;   ///< The line in which it was found.
  std::string other;  ///< The number there seems to belong to this metric; or "" …
  /// … if the pattern has no {step}: this line is the second of one epoch, and counts as another step.
  static void list_fields(auto& fields, auto& self) {
    fields("metric", self.metric);
    fields("line", self.line);
    fields.maybe("other", self.other);
  }
};
/// These hyperparameters are invalid.
struct InvalidHparamsMessage {
  static constexpr const char* type = "invalid_hparams";
  std::string why;
  static void list_fields(auto& fields, auto& self) { fields("why", self.why); }
};
/// A line for hpsearch that is no valid message.
struct MisunderstoodMessage {
  static constexpr const char* type = "misunderstood";
  std::string why;
  static void list_fields(auto& fields, auto& self) { fields("why", self.why); }
};
using ProgramMessage =
    std::variant<MetricsMessage, CheckpointMessage, RemarkMessage, InvalidHparamsMessage, UnreadableMessage,
                 LookalikeMessage, UnreadMessage, DoubtfulMessage, MisunderstoodMessage>;

/// Reads one line of the socket: {"type":"report","step":3,"metrics":{"val_acc":0.91}}, "checkpoint",
/// "progress", "log" or "invalid_hyperparameters". NaN, Infinity and -Infinity are numbers; Python's json
/// prints them. Metrics of a "group" other than "validation" are named GROUP.NAME, so that a training loss
/// never counts as the metric that decides. bad_request: the problem, in words for the program's author.
[[nodiscard]] engine::Result<ProgramMessage> parse_socket_line(std::string_view line);

/// The beginning of a line of stdout that is for hpsearch.
inline constexpr std::string_view stdout_word = "HPSEARCH ";

/// The text after stdout_word in a line of stdout; nothing if the line is no message.
[[nodiscard]] std::optional<std::string_view> stdout_payload(std::string_view line) noexcept;

/// Reads such a payload: {"step":3,"val_acc":0.91}. All members except the step and the group are metrics.
[[nodiscard]] engine::Result<ProgramMessage> parse_stdout_payload(std::string_view payload);

/// The first number in the text that a pattern captured: 0.91, but also tensor(0.91, device='cuda:0')
/// and 92.5%, which is 92.5. Digits that are part of a word ("f1"), or of a number that no double can hold,
/// don't count. bad_request: the rest of a sentence, "there is no number in it"; also if the digits alone
/// would be another number than the printed one: 1,234 and 1.5k. `behind` is the text after the capture in
/// the line: a pattern's group may end inside of a number.
[[nodiscard]] engine::Result<double> first_number(std::string_view captured, std::string_view behind = {});
/// The whole number that a pattern captured as a step. bad_request: as for first_number().
[[nodiscard]] engine::Result<engine::Units> captured_step(std::string_view captured,
                                                          std::string_view behind = {});

/// The message, or MisunderstoodMessage with the error.
[[nodiscard]] ProgramMessage understood(engine::Result<ProgramMessage> message);

/// The beginning of the text, for a quotation: whole characters, at most `most` bytes.
[[nodiscard]] std::string beginning_of(std::string_view text, std::size_t most);

}  // namespace hpsearch::workers

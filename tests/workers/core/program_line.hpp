#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "hpsearch/workers/core/effects.hpp"

namespace hpsearch::workers {

/// The message that a shim reads in a line: on the socket, or printed after HPSEARCH if it is no question.
inline ProgramMessage message_in(std::optional<QuestionId> question, std::string_view line) {
  return understood(question ? parse_socket_line(line) : parse_stdout_payload(line));
}

/// The message that the agent receives for that line.
inline ProgramMessageReceived program_line(const engine::AttemptKey& key, std::optional<QuestionId> question,
                                           std::string_view line, std::uint64_t position = 0,
                                           bool answered = false) {
  return {key, question, message_in(question, line), position, answered};
}

}  // namespace hpsearch::workers

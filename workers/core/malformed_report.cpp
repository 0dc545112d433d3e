#include "hpsearch/workers/core/malformed_report.hpp"

#include <cstddef>

#include "hpsearch/workers/core/log_text.hpp"
#include "hpsearch/workers/core/program_message.hpp"

namespace hpsearch::workers {
namespace {

constexpr std::string_view blanks = " \t";
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_blank(std::string_view text) {
  return text.find_first_not_of(blanks) == std::string_view::npos;
}

std::string what_stands_before(std::string_view before) {
  if (before.starts_with(byte_order_mark)) {
    return "a byte order mark stands before HPSEARCH";
  }
  if (before.find('\x1b') != std::string_view::npos && is_blank(without_escapes(before))) {
    return "a terminal's escape sequence (a colour) stands before HPSEARCH";
  }
  return is_blank(before) ? "it is indented" : "other text stands before HPSEARCH";
}

}  // namespace

std::optional<std::string> why_no_report(std::string_view line, PrintedTo stream) {
  const std::size_t at = line.find(report_word);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view before = line.substr(0, at);
  const std::string rest = without_escapes(line.substr(at + report_word.size()));
  const std::size_t brace = rest.find_first_not_of(" \t:=");
  if (brace == std::string::npos || rest[brace] != '{') {
    return std::nullopt;
  }
  if (stream == PrintedTo::stderr_stream) {
    return "it was printed to standard error";
  }
  if (!before.empty()) {
    return what_stands_before(before);
  }
  if (line.starts_with(stdout_word)) {
    return std::nullopt;
  }
  return "one space has to stand between HPSEARCH and {";
}

}  // namespace hpsearch::workers

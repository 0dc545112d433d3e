#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hpsearch::workers {

/// The word of the protocol. A line that has it somewhere may be a report that went wrong.
inline constexpr std::string_view report_word = "HPSEARCH";

enum class PrintedTo : bool { stdout_stream, stderr_stream };

/// Why a line that looks like a report (HPSEARCH {…) is none: it was printed to standard error, or something
/// stands before the word or behind it. Nothing: it is a report, or does not look like one.
[[nodiscard]] std::optional<std::string> why_no_report(std::string_view line, PrintedTo stream);

}  // namespace hpsearch::workers

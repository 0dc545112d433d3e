#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hpsearch::workers {

/// The keyword of the protocol. A line with it may be an incorrect report.
inline constexpr std::string_view report_word = "HPSEARCH";

enum class PrintedTo : bool { stdout_stream, stderr_stream };

/// Why a line that looks like a report (HPSEARCH {…) is none: it was printed to standard error, or there is
/// text before the keyword or after the JSON. Nothing: it is a report, or doesn't look like one.
[[nodiscard]] std::optional<std::string> why_no_report(std::string_view line, PrintedTo stream);

}  // namespace hpsearch::workers

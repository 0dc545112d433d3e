#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/events.hpp"

namespace hpsearch::c_api {

/// A search as text: one event on each line, and a last line "end". Each line begins with eight hexadecimal
/// digits, the CRC-32C of everything up to its end without the digits, so that no line can be changed, lost,
/// moved or repeated without notice.
[[nodiscard]] std::string saved_text(std::span<const engine::Event> events);

/// corrupt: the text is not what saved_text() returned; the message names the line.
[[nodiscard]] engine::Result<std::vector<engine::Event>> read_saved(std::string_view text);

}  // namespace hpsearch::c_api

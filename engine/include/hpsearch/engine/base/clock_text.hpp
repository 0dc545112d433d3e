#pragma once

#include <optional>
#include <string_view>

#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::engine {

/// "1-02:03:04", "02:03:04", "03:04": times as other schedulers write them. Nothing: it is none, as
/// "UNLIMITED".
[[nodiscard]] std::optional<Duration> duration_from_clock_text(std::string_view text) noexcept;

}  // namespace hpsearch::engine

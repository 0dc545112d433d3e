#pragma once

#include <string>
#include <string_view>

#include "hpsearch/engine/scheduler/explain.hpp"

namespace hpsearch::sentences {

// `unit` is that of the experiment's lengths.

/// What a trial does now: "attempt 1 trains on worker \"a\" and has reached 3 of 9 epochs".
[[nodiscard]] std::string now_text(const engine::Explanation& explanation, std::string_view unit);

/// What must happen before it continues; "" if nothing can.
[[nodiscard]] std::string next_text(const engine::Explanation& explanation, std::string_view unit);

/// The program of a trial whose end is decided is still running, and may for that long.
[[nodiscard]] std::string finishing_text(engine::Duration at_most);

}  // namespace hpsearch::sentences

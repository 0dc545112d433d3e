#pragma once

#include <string>
#include <string_view>

#include "hpsearch/engine/scheduler/explain.hpp"
#include "hpsearch/proto/sentences/language.hpp"

namespace hpsearch::sentences {

// `unit` is the unit of the experiment's lengths.

/// The present activity of a trial: "attempt 1 trains on worker \"a\" and has reached 3 of 9 epochs".
[[nodiscard]] std::string now_text(const engine::Explanation& explanation, std::string_view unit,
                                   Language language = Language::english);

/// The condition for its continuation; "" if it can't continue.
[[nodiscard]] std::string next_text(const engine::Explanation& explanation, std::string_view unit,
                                    Language language = Language::english);

/// The trial is decided, and its program may still run for this time.
[[nodiscard]] std::string finishing_text(engine::Duration at_most, Language language = Language::english);

}  // namespace hpsearch::sentences

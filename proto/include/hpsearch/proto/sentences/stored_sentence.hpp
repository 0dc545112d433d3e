#pragma once

#include <string>
#include <string_view>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/sentences/language.hpp"

namespace hpsearch::sentences {

/// A sentence that was made in English before a reader was known, in a language: reasons and notes in stored
/// events, and what workers and the daemon report about themselves. One that isn't known here, as of an older
/// log or a program, stays as it is.
[[nodiscard]] std::string stored_in(Language language, std::string_view stored);

/// The members of a stored event, as JSON has it, whose sentences are others in the language: each whole,
/// with these sentences. None in English.
[[nodiscard]] engine::Value::Map sentences_in(Language language, const engine::Value::Map& event);

}  // namespace hpsearch::sentences

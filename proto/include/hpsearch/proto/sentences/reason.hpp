#pragma once

#include <string>
#include <string_view>

#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/proto/sentences/language.hpp"

namespace hpsearch::sentences {

/// "promoted; rank 3 of 17 at 9 epochs (keeps the best 4, cut-off 0.912)". `unit` is the experiment's; "":
/// the number of the length alone.
[[nodiscard]] std::string describe(const engine::Reason& reason, std::string_view unit = {},
                                   Language language = Language::english);

/// Only the numbers: "rank 3 of 17 at 9 epochs (keeps the best 4, cut-off 0.912)"; "" if there are none. The
/// bracket is named from the second one on, and the rung's number only in reasons without its length, which
/// older logs have.
[[nodiscard]] std::string describe_rank(const engine::Reason& reason, std::string_view unit = {},
                                        Language language = Language::english);

}  // namespace hpsearch::sentences

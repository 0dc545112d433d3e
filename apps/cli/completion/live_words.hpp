#pragma once

#include <vector>

#include "cli/completion/completion.hpp"

namespace hpsearch::cli {

/// The words of that place that this machine or the daemon knows: ids and names. Empty if no daemon answers
/// at once, or if it needs a token from the standard input. Answers are used again for 2 seconds.
[[nodiscard]] std::vector<Candidate> live_words(const Completion& place);

}  // namespace hpsearch::cli

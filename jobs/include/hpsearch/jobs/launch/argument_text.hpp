#pragma once

#include <string>
#include <string_view>

#include "hpsearch/engine/space/bool_style.hpp"
#include "hpsearch/jobs/fields/engine_types.hpp"

namespace hpsearch::jobs {

/// A hyperparameter as text for variables and files: Python's str(), with booleans in their style.
[[nodiscard]] std::string styled_text(const Value& value, BoolStyle style);

/// A hyperparameter as one argument: the same text, but a negative real has no exponent, because argparse
/// takes -1e-05 for an option.
[[nodiscard]] std::string argument_text(const Value& value, BoolStyle style = BoolStyle::python);

/// The text as one word for sh, quoted exactly as Python's shlex.quote() does.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace hpsearch::jobs

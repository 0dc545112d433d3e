#pragma once

#include <string>
#include <string_view>

#include "hpsearch/engine/space/bool_style.hpp"
#include "hpsearch/jobs/fields/engine_types.hpp"

namespace hpsearch::jobs {

/// A hyperparameter as text, as variables and files have it: Python's str(), booleans in their style.
[[nodiscard]] std::string styled_text(const Value& value, BoolStyle style);

/// A hyperparameter as one argument: the same, but a negative real without exponent, since argparse takes
/// -1e-05 for an option.
[[nodiscard]] std::string argument_text(const Value& value, BoolStyle style = BoolStyle::python);

/// One word for sh, in single quotes unless every character is harmless: what Python's shlex.quote() gives.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace hpsearch::jobs

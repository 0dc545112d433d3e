#pragma once

#include <string>
#include <vector>

#include "hpsearch/io/archive/context_files.hpp"

namespace hpsearch::cli {

/// The text about a context before it is packed, one sentence per line: how many files and bytes, with the
/// five largest directories at its top if there are several, and what is left out by default. File names can
/// put any characters into the text.
[[nodiscard]] std::vector<std::string> context_report(const context::ContextListing& listing);

}  // namespace hpsearch::cli

#pragma once

#include <string>
#include <vector>

#include "hpsearch/io/archive/context_files.hpp"

namespace hpsearch::cli {

/// What people hear of a context before it is packed, a sentence a line: how many files and bytes, with the
/// five largest directories at its top where there are several, and what is left out by default. The text may
/// hold anything that file names hold.
[[nodiscard]] std::vector<std::string> context_report(const context::ContextListing& listing);

}  // namespace hpsearch::cli

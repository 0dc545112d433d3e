#pragma once

#include "fields/sections.hpp"

namespace hpsearch::jobs {

/// Turns what Determined's experiment files spell otherwise into the fields of docs/experiment-file.md, with
/// a note for each: resources.slots, an empty host_path, the searcher `adaptive`. Fields of older and later
/// versions than 0.24 become problems that say what to write. `tree` is a map.
void translate_determined(Value& tree, Findings& findings);

}  // namespace hpsearch::jobs

#pragma once

#include "fields/sections.hpp"

namespace hpsearch::jobs {

/// Translates the fields that Determined spells otherwise into those of docs/experiment-file.md, with
/// a note for each: resources.slots, an empty host_path, the searcher `adaptive`. Fields of versions before
/// and after 0.24 become problems that name the replacement. `tree` is a map.
void translate_determined(Value& tree, Findings& findings);

}  // namespace hpsearch::jobs

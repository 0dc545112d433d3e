#pragma once

#include <memory>

#include "dialects/dialects.hpp"

namespace hpsearch::jobs {

/// The names that other platforms give to a searcher with a sampler, and to its fields. Notes name the
/// replacements.
[[nodiscard]] std::unique_ptr<Dialect> make_searcher_names_dialect();

}  // namespace hpsearch::jobs

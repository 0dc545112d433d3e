#pragma once

#include <memory>

#include "dialects/dialects.hpp"

namespace hpsearch::jobs {

/// Determined: programs written for its harness. Its experiment files need no translation of names.
[[nodiscard]] std::unique_ptr<Dialect> make_determined_dialect();

}  // namespace hpsearch::jobs

#pragma once

#include <memory>

#include "dialects/dialects.hpp"

namespace hpsearch::jobs {

/// PAI: components (`component`). PAI's algorithms are read as components, too.
[[nodiscard]] std::unique_ptr<Dialect> make_pai_dialect();

}  // namespace hpsearch::jobs

#pragma once

#include <memory>

#include "dialects/dialects.hpp"

namespace hpsearch::jobs {

/// PAI: components, which are its algorithms too (`component`).
[[nodiscard]] std::unique_ptr<Dialect> make_pai_dialect();

}  // namespace hpsearch::jobs

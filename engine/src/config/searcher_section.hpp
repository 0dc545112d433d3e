#pragma once

#include <optional>
#include <string_view>

#include "config/lengths.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/config/section.hpp"

namespace hpsearch::engine {

/// Reads `searcher` and refuses unknown fields. `max_length` is returned as written; the caller converts its
/// unit. `space` is nullptr when it has problems: points_to_evaluate are not compared with it then.
void read_searcher(Section section, SearcherRegistry registry, const Space* space, SearcherConfig& searcher,
                   std::optional<Length>& max_length);

[[nodiscard]] std::string_view name_of(AshaMode mode) noexcept;

}  // namespace hpsearch::engine

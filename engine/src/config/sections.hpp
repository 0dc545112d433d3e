#pragma once

#include <optional>
#include <string_view>

#include "config/lengths.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/config/section.hpp"

namespace hpsearch::engine {

// One function per section of an experiment that the engine decides by. Each refuses what it does not know.

/// `max_length` is given back as it stands; the caller knows the units. `space` is nullptr when it has
/// problems: points_to_evaluate are not compared with it then.
void read_searcher(Section section, SearcherRegistry registry, const Space* space, SearcherConfig& searcher,
                   std::optional<Length>& max_length);

/// Leaves other fields unread: they are the program's.
void read_resources(Section& section, ResourcesConfig& resources);

/// A length of time above 0; nothing when absent, or wrong and put among the problems.
[[nodiscard]] std::optional<Duration> read_duration(Section& section, std::string_view key);

void read_budget(Section section, BudgetConfig& budget);

/// Leaves other fields of `checkpoint_storage` unread: they are the program's.
void read_retention(Section& section, CheckpointRetention& retention);

/// Fields that every searcher reads, whatever its kind.
inline constexpr std::string_view common_searcher_fields[] = {
    "max_length", "metric", "name", "smaller_is_better", "source_checkpoint_uuid", "source_trial_id",
};

[[nodiscard]] std::string_view name_of(AshaMode mode) noexcept;
[[nodiscard]] std::string_view name_of(OnDuplicate rule) noexcept;

}  // namespace hpsearch::engine

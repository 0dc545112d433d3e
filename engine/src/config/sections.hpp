#pragma once

#include <map>
#include <optional>
#include <string>

#include "config/lengths.hpp"
#include "config/reader.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"

namespace hpsearch::engine {

// One function per section of the experiment file. Each reads its fields, refuses what it does not know, and
// puts what is taken but means nothing to the engine yet into `accepted`, with a note.

/// `max_length` is given back as it stands; the caller knows the units. `space` is nullptr when it has
/// problems: points_to_evaluate are not compared with it then. Fields of a kind that SearcherConfig has no
/// place for are accepted without a note: the kind itself reads them.
void read_searcher(Section section, SearcherRegistry registry, const Space* space, SearcherConfig& searcher,
                   std::optional<Length>& max_length, Value::Map& accepted);

/// Given points beside max_trials and the rule for duplicates: what is asked of a submission and of a change
/// that gives new ones, not of points that a living experiment may have started long ago.
void check_points(const SearcherConfig& searcher, Problems& problems);

void read_resources(Section section, ResourcesConfig& resources, Value::Map& accepted);

/// A length of time above 0; nothing when absent, or wrong and put among the problems.
[[nodiscard]] std::optional<Duration> read_duration(Section& section, std::string_view key);

void read_budget(Section section, BudgetConfig& budget);

void read_checkpoint_storage(Section section, CheckpointStorageConfig& storage, Value::Map& accepted);

/// Leaves `experiment_seed`, which users write here too, to the caller: give it a section that knows the key.
/// The images go into the contract, unless the program runs under the Determined `harness`, which has no
/// containers here.
void read_environment(Section section, bool harness, std::map<std::string, std::string>& variables,
                      JobContract& contract, Value::Map& accepted);

[[nodiscard]] bool is_variable_name(std::string_view name) noexcept;
/// Names that the dynamic loader obeys, and those by which a worker tells a program who it is.
[[nodiscard]] bool is_reserved_variable(std::string_view name) noexcept;

/// inputs, outputs, pai, layout and source, and the bool styles of the space.
void read_contract(Section& top, const Space& space, JobContract& contract, Value::Map& accepted);

/// What a field comes to that only the Determined harness reads, in an experiment without it.
inline constexpr std::string_view no_harness_container =
    "has no effect here: the Determined harness runs without a container";
inline constexpr std::string_view only_harness =
    "has no effect here: only the Determined harness reads it, and it is started for launch.kind: determined";

/// bind_mounts, and the sections that mean nothing to the engine: profiling, slurm and so on; and `launch`,
/// which the harness reads too. `harness`: the program runs under the Determined harness, which reads some of
/// them.
[[nodiscard]] LaunchConfig read_accepted_sections(Section& top, bool harness, JobContract& contract,
                                                  Value::Map& accepted);

/// Fields that every searcher reads, whatever its kind.
inline constexpr std::string_view common_searcher_fields[] = {
    "max_length", "metric", "name", "smaller_is_better", "source_checkpoint_uuid", "source_trial_id",
};

[[nodiscard]] std::string_view name_of(AshaMode mode) noexcept;
[[nodiscard]] std::string_view name_of(OnDuplicate rule) noexcept;

/// The path lies below itself: no "..", which would lead out of it.
[[nodiscard]] bool climbs(std::string_view path) noexcept;

}  // namespace hpsearch::engine

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hpsearch::engine {

///     active <--> paused
///        \          /
///         stopping (programs are still ending)
///             |
///     completed | canceled | failed
enum class ExperimentState : std::uint8_t { active, paused, stopping, completed, canceled, failed };

[[nodiscard]] bool is_ended(ExperimentState state) noexcept;
[[nodiscard]] std::string_view name_of(ExperimentState state) noexcept;  ///< "ACTIVE", …
[[nodiscard]] std::optional<ExperimentState> experiment_state_named(std::string_view name) noexcept;

}  // namespace hpsearch::engine

#include "hpsearch/jobs/launch/launch.hpp"

#include <algorithm>
#include <cstddef>

#include "fields/sections.hpp"

namespace hpsearch::jobs {

std::string_view name_of(LaunchKind kind) noexcept {
  return launch_kind_names[static_cast<std::size_t>(kind)];
}

std::optional<LaunchKind> launch_kind_named(std::string_view name) noexcept {
  const auto found = std::find(launch_kind_names.begin(), launch_kind_names.end(), name);
  return found == launch_kind_names.end()
             ? std::nullopt
             : std::optional(static_cast<LaunchKind>(found - launch_kind_names.begin()));
}

std::string_view name_of(RankLevel level) noexcept {
  return rank_level_names[static_cast<std::size_t>(level)];
}

std::optional<RankLevel> rank_level_named(std::string_view name) noexcept {
  const auto found = std::find(rank_level_names.begin(), rank_level_names.end(), name);
  return found == rank_level_names.end()
             ? std::nullopt
             : std::optional(static_cast<RankLevel>(found - rank_level_names.begin()));
}

std::uint64_t least_workers(const LaunchConfig& launch) noexcept {
  return std::max<std::uint64_t>(2, 1 + launch.roles.ps + launch.roles.evaluator);
}

bool spans_workers(const LaunchConfig& launch) noexcept {
  switch (launch.kind) {
    case LaunchKind::process:
    case LaunchKind::determined:
      return false;
    case LaunchKind::pytorch:
    case LaunchKind::tensorflow:
    case LaunchKind::xgboost:
    case LaunchKind::elastic_batch:
    case LaunchKind::mpi:
      return true;
  }
  return false;
}

}  // namespace hpsearch::jobs

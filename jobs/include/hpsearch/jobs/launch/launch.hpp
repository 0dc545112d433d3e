#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hpsearch::jobs {

/// How the processes of one trial find each other. The kind decides which platform's variables they get.
enum class LaunchKind : std::uint8_t {
  process,        ///< One process with all slots of one worker.
  pytorch,        ///< PyTorchJob, torchrun.
  tensorflow,     ///< TFJob.
  xgboost,        ///< XGBoostJob.
  elastic_batch,  ///< ElasticBatchJob.
  mpi,            ///< A host file; the program starts mpirun or horovodrun itself on the first node.
  determined,     ///< Determined's harness.
};
inline constexpr std::array<std::string_view, 7> launch_kind_names = {
    "process", "pytorch", "tensorflow", "xgboost", "elastic_batch", "mpi", "determined"};
[[nodiscard]] std::string_view name_of(LaunchKind kind) noexcept;
[[nodiscard]] std::optional<LaunchKind> launch_kind_named(std::string_view name) noexcept;

/// The process that the worker starts: each rank, or one for all ranks of a node.
enum class RankLevel : std::uint8_t {
  node,     ///< One process per worker. It starts the others itself, as torchrun does.
  process,  ///< One process per slot.
};
inline constexpr std::array<std::string_view, 2> rank_level_names = {"node", "process"};
[[nodiscard]] std::string_view name_of(RankLevel level) noexcept;
[[nodiscard]] std::optional<RankLevel> rank_level_named(std::string_view name) noexcept;

/// Members of a tensorflow gang besides its chief, which is rank 0, and its workers. Evaluators have
/// the last ranks, parameter servers those before them.
struct LaunchRoles {
  std::uint64_t ps = 0;
  std::uint64_t evaluator = 0;
  friend bool operator==(const LaunchRoles&, const LaunchRoles&) = default;
};

/// The `launch` section.
struct LaunchConfig {
  LaunchKind kind = LaunchKind::process;
  RankLevel rank = RankLevel::node;
  LaunchRoles roles = {};
  friend bool operator==(const LaunchConfig&, const LaunchConfig&) = default;
};

/// The least number of workers of a program that runs on several: one for each role.
[[nodiscard]] std::uint64_t least_workers(const LaunchConfig& launch) noexcept;

/// Whether programs with this launch can run on several workers.
[[nodiscard]] bool spans_workers(const LaunchConfig& launch) noexcept;

}  // namespace hpsearch::jobs

#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::searchers {

/// Which configurations were started, where none may start twice, and what the next trial draws so that none
/// does.
class SeenConfigurations {
 public:
  SeenConfigurations() = default;
  SeenConfigurations(const SeenConfigurations&) = delete;
  SeenConfigurations& operator=(const SeenConfigurations&) = delete;
  virtual ~SeenConfigurations() = default;

  [[nodiscard]] virtual bool has(const engine::Value& configuration) const = 0;
  /// look_ahead() follows.
  virtual void add(const engine::Value& configuration) = 0;
  /// This trial draws next.
  virtual void look_ahead(engine::TrialNumber trial) = 0;

  /// What it draws: its own draw if that was not started, else another. Not asked when dry.
  [[nodiscard]] virtual engine::Value draw(engine::TrialNumber trial) const = 0;
  /// It can draw nothing that was not started.
  [[nodiscard]] virtual bool dry() const noexcept = 0;
  /// Configurations that were not started; nothing if they are not countable.
  [[nodiscard]] virtual std::optional<engine::Cardinality> remaining() const noexcept = 0;
};

/// The space outlives it.
///
/// In a finite space the next unused configuration in shuffled order stands in for a draw that was started.
/// In any other the trial draws again: how often is bounded, so that a space with few numbers in it (a log
/// with base 1, a range between neighbouring doubles) ends as exhausted.
[[nodiscard]] std::unique_ptr<SeenConfigurations> make_seen_configurations(const engine::Space& space,
                                                                           std::uint64_t seed);

}  // namespace hpsearch::searchers

#pragma once

#include <set>
#include <string>
#include <string_view>

#include "hpsearch/engine/engine.hpp"

namespace hpsearch::daemon {

/// The pools that labels name: those of workers, a limited number. Experiments may name any others, which
/// are summed under "other".
class PoolNames {
 public:
  static constexpr std::size_t most = 20;

  PoolNames() = default;
  explicit PoolNames(const engine::Engine& engine);

  /// Of a pool as workers and experiments have it; "" = the default one.
  [[nodiscard]] std::string_view shown(std::string_view pool) const;

 private:
  std::set<std::string, std::less<>> names_{"default"};
};

}  // namespace hpsearch::daemon

#pragma once

#include <set>
#include <string>
#include <string_view>

#include "hpsearch/engine/engine.hpp"

namespace hpsearch::daemon {

/// The pools that labels name: those of workers, a limited number. Other pools that experiments name are
/// summed as "other".
class PoolNames {
 public:
  static constexpr std::size_t most = 20;

  PoolNames() = default;
  explicit PoolNames(const engine::Engine& engine);

  /// The label for a pool of workers or experiments; "" = the default one.
  [[nodiscard]] std::string_view shown(std::string_view pool) const;

 private:
  std::set<std::string, std::less<>> names_{"default"};
};

}  // namespace hpsearch::daemon

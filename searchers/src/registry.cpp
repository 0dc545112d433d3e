#include "hpsearch/searchers/registry.hpp"

#include <array>

#include "hpsearch/searchers/adaptive_asha.hpp"
#include "hpsearch/searchers/async_halving.hpp"
#include "hpsearch/searchers/grid.hpp"
#include "hpsearch/searchers/random.hpp"
#include "hpsearch/searchers/single.hpp"

namespace hpsearch::searchers {

engine::SearcherRegistry registry() noexcept {
  static const std::array<engine::SearcherKind, 5> kinds = {
      adaptive_asha_kind(), async_halving_kind(), grid_kind(), random_kind(), single_kind(),
  };
  return kinds;
}

}  // namespace hpsearch::searchers

#include "core/adapters/adapters.hpp"

#include "core/adapters/determined/determined.hpp"
#include "core/adapters/launch_kinds/launch_kinds.hpp"
#include "core/adapters/modelarts/modelarts.hpp"
#include "core/adapters/pai/pai.hpp"

namespace hpsearch::workers {

std::span<const Adapter* const> adapters() noexcept {
  static constexpr const Adapter* all[] = {
      &pai_adapter,           //
      &modelarts_adapter,     //
      &launch_kinds_adapter,  // May put another program before the entrypoint.
      &determined_adapter,    // May replace the entrypoint by its harness.
  };
  return all;
}

}  // namespace hpsearch::workers

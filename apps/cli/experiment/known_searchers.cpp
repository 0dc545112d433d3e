#include "cli/experiment/known_searchers.hpp"

#include "hpsearch/searchers/registry.hpp"

namespace hpsearch::cli {

namespace {

engine::SearcherRegistry& known() noexcept {
  static engine::SearcherRegistry registry = searchers::registry();
  return registry;
}

}  // namespace

engine::SearcherRegistry known_searchers() noexcept {
  return known();
}

void set_known_searchers(engine::SearcherRegistry registry) noexcept {
  known() = registry;
}

}  // namespace hpsearch::cli

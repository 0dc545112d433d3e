#pragma once

#include <algorithm>
#include <hpsearch/searchers/registry.hpp>
#include <string_view>
#include <vector>

#include "evolution.hpp"

/// The searchers of hpsearch and ours, in the order of their names.
inline hpsearch::engine::SearcherRegistry registry() {
  static const std::vector<hpsearch::engine::SearcherKind> kinds = [] {
    const hpsearch::engine::SearcherRegistry known = hpsearch::searchers::registry();
    std::vector<hpsearch::engine::SearcherKind> all(known.begin(), known.end());
    all.push_back(evolution_kind());
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return all;
  }();
  return kinds;
}

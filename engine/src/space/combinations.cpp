#include "hpsearch/engine/space/combinations.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/space/levels.hpp"
#include "space/activity.hpp"
#include "space/leaves.hpp"

namespace hpsearch::engine {
namespace {

constexpr Cardinality most = (Cardinality{1} << 127U) - 1;

/// Leaves that will be inactive, ascending, of those whose turn has not come.
using Ruled = std::vector<std::size_t>;

/// Which later leaves a run of places rules out.
struct Outcome {
  std::uint64_t first = 0;
  Cardinality places = 0;
  Ruled ruled_out;
};

}  // namespace

class Combinations::Builder {
 public:
  Builder(std::span<const Space::Leaf> leaves, std::span<const Cardinality> sizes, const PlacesOf& places_of)
      : leaves_(leaves), sizes_(sizes), places_of_(places_of), children_(children_of(leaves)) {
    made_.order_ = ordered_by_parents(leaves);
    made_.reachable_.assign(leaves.size(), false);
  }

  std::optional<Combinations> build() && {
    std::map<Ruled, std::uint32_t> states = {{Ruled(), 0}};
    for (const std::size_t leaf : made_.order_) {
      const std::vector<Outcome> outcomes = outcomes_of(leaf);
      std::vector<Node> layer(states.size());
      std::map<Ruled, std::uint32_t> next;
      for (const auto& [ruled, number] : states) {
        Node& node = layer[number];
        ++nodes_;
        node.active = !std::binary_search(ruled.begin(), ruled.end(), leaf);
        if (node.active) {
          made_.reachable_[leaf] = true;
          for (const Outcome& outcome : outcomes) {
            node.runs.push_back({outcome.first, outcome.places, after(ruled, leaf, outcome.ruled_out, next)});
          }
        } else {
          node.runs.push_back({0, 1, after(ruled, leaf, children_[leaf], next)});
        }
        if (work_ > most_work || nodes_ > most_nodes) {
          return std::nullopt;
        }
      }
      made_.layers_.push_back(std::move(layer));
      states = std::move(next);
    }
    count();
    return std::move(made_);
  }

 private:
  static constexpr std::size_t most_work = 1'000'000;
  static constexpr std::size_t most_nodes = 20'000;

  std::uint32_t after(const Ruled& ruled, std::size_t leaf, const Ruled& more,
                      std::map<Ruled, std::uint32_t>& next) {
    Ruled both;
    std::set_union(ruled.begin(), ruled.end(), more.begin(), more.end(), std::back_inserter(both));
    std::erase(both, leaf);
    work_ += both.size() + 1;
    return next.emplace(std::move(both), static_cast<std::uint32_t>(next.size())).first->second;
  }

  /// Runs of the leaf's places, ascending.
  std::vector<Outcome> outcomes_of(std::size_t leaf) {
    if (children_[leaf].empty()) {
      return {{0, sizes_[leaf], {}}};
    }
    // A child's conditions on this leaf, each by the places at which it holds.
    std::map<std::uint64_t, std::map<std::size_t, std::size_t>> held;  // place → child → how many hold
    std::map<std::size_t, std::size_t> wanted;
    for (const std::size_t child : children_[leaf]) {
      for (const Space::Condition& condition : leaves_[child].when) {
        if (condition.parent != leaf) {
          continue;
        }
        ++wanted[child];
        for (const std::uint64_t place : places_of_(leaf, condition.values)) {
          ++held[place][child];
          ++work_;
        }
      }
    }
    std::vector<Outcome> outcomes;
    const auto add = [&](std::uint64_t first, Cardinality places, Ruled ruled_out) {
      if (!outcomes.empty() && outcomes.back().ruled_out == ruled_out) {
        outcomes.back().places += places;
      } else if (places > 0) {
        outcomes.push_back({first, places, std::move(ruled_out)});
      }
    };
    Cardinality begin = 0;
    for (const auto& [place, children] : held) {
      add(static_cast<std::uint64_t>(begin), place - begin, children_[leaf]);
      Ruled ruled_out;
      for (const auto& [child, conditions] : wanted) {
        const auto holding = children.find(child);
        if (holding == children.end() || holding->second < conditions) {
          ruled_out.push_back(child);
        }
      }
      work_ += ruled_out.size();
      add(place, 1, std::move(ruled_out));
      begin = Cardinality{place} + 1;
    }
    add(static_cast<std::uint64_t>(begin), sizes_[leaf] - begin, children_[leaf]);
    return outcomes;
  }

  void count() {
    for (std::size_t at = made_.layers_.size(); at-- > 0;) {
      for (Node& node : made_.layers_[at]) {
        for (const Run& run : node.runs) {
          const Cardinality below =
              at + 1 == made_.layers_.size() ? 1 : made_.layers_[at + 1][run.next].below;
          const bool fits = node.below != too_many && below != too_many && run.places <= most / below &&
                            run.places * below <= most - node.below;
          node.below = fits ? node.below + run.places * below : too_many;
        }
      }
    }
  }

  std::span<const Space::Leaf> leaves_;
  std::span<const Cardinality> sizes_;
  const PlacesOf& places_of_;
  std::vector<std::vector<std::size_t>> children_;
  Combinations made_;
  std::size_t work_ = 0;
  std::size_t nodes_ = 0;
};

std::optional<Combinations> Combinations::of(std::span<const Space::Leaf> leaves,
                                             std::span<const Cardinality> sizes, const PlacesOf& places_of) {
  return Builder(leaves, sizes, places_of).build();
}

std::optional<Combinations> Combinations::of_values(std::span<const Space::Leaf> leaves) {
  std::vector<std::vector<Value>> listed(leaves.size());
  std::vector<Cardinality> sizes;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const std::optional<Levels> levels = Levels::of(leaves[i].parameter);
    if (const auto* categorical = std::get_if<CategoricalParameter>(&leaves[i].parameter)) {
      listed[i] = different_values(categorical->vals);
    }
    sizes.push_back(levels ? Cardinality{levels->last()} + 1 : std::max<std::size_t>(listed[i].size(), 1));
  }
  return of(leaves, sizes, [&](std::size_t leaf, const std::vector<Value>& values) {
    std::vector<std::uint64_t> places;
    const std::optional<Levels> levels = Levels::of(leaves[leaf].parameter);
    for (const Value& value : values) {
      if (const auto level = levels ? levels->find(value) : std::nullopt) {
        places.push_back(*level);
      }
      for (std::size_t place = 0; place < listed[leaf].size(); ++place) {
        if (listed[leaf][place] == value) {
          places.push_back(place);
        }
      }
    }
    if (is_constant(leaves[leaf].parameter)) {
      places.push_back(0);
    }
    std::sort(places.begin(), places.end());
    return places;
  });
}

std::vector<Value> different_values(const std::vector<Value>& vals) {
  std::set<std::string> seen;
  std::vector<Value> once;
  for (const Value& value : vals) {
    if (seen.insert(compact_json(value)).second) {
      once.push_back(value);
    }
  }
  return once;
}

std::optional<Cardinality> Combinations::size() const noexcept {
  if (layers_.empty()) {
    return 1;
  }
  const Cardinality all = layers_.front().front().below;
  return all == too_many ? std::nullopt : std::optional(all);
}

std::vector<Combinations::Place> Combinations::at(Cardinality number) const {
  HPSEARCH_CHECK(number < size().value_or(0), "combinations are numbered below size()");
  std::vector<Place> places(order_.size());
  std::uint32_t here = 0;
  for (std::size_t at = 0; at < layers_.size(); ++at) {
    const Node& node = layers_[at][here];
    for (const Run& run : node.runs) {
      const Cardinality below = at + 1 == layers_.size() ? 1 : layers_[at + 1][run.next].below;
      if (number >= run.places * below) {
        number -= run.places * below;
        continue;
      }
      if (node.active) {
        places[order_[at]] = run.first + static_cast<std::uint64_t>(number / below);
      }
      number %= below;
      here = run.next;
      break;
    }
  }
  return places;
}

std::optional<Cardinality> Combinations::number_of(std::span<const Place> places) const {
  Cardinality number = 0;
  std::uint32_t here = 0;
  for (std::size_t at = 0; at < layers_.size(); ++at) {
    const Node& node = layers_[at][here];
    const Place& place = places[order_[at]];
    if (place.has_value() != node.active) {
      return std::nullopt;
    }
    const Cardinality wanted = place.value_or(0);
    bool found = false;
    for (const Run& run : node.runs) {
      const Cardinality below = at + 1 == layers_.size() ? 1 : layers_[at + 1][run.next].below;
      if (wanted >= run.first + run.places) {
        number += run.places * below;
        continue;
      }
      number += (wanted - run.first) * below;
      here = run.next;
      found = true;
      break;
    }
    if (!found) {
      return std::nullopt;
    }
  }
  return number;
}

}  // namespace hpsearch::engine

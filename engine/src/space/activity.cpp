#include "space/activity.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <utility>

#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/space/combinations.hpp"
#include "hpsearch/engine/space/levels.hpp"
#include "space/leaves.hpp"

namespace hpsearch::engine {
namespace {

constexpr const char* example =
    "a map of hyperparameters and their values, such as {optimizer: [sgd, nesterov]}";

bool has_listed_values(const Parameter& parameter) noexcept {
  return std::holds_alternative<ConstParameter>(parameter) ||
         std::holds_alternative<CategoricalParameter>(parameter) || Levels::of(parameter).has_value();
}

class ConditionsReader {
 public:
  ConditionsReader(std::string_view at, std::vector<Space::Leaf>& leaves, Problems& problems)
      : at_(at), leaves_(leaves), problems_(problems) {
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
      by_path_.emplace(leaves[leaf].path, leaf);
    }
  }

  void read(const WrittenCondition& written) {
    const Value::Map* map = written.when->as_map();
    if (map == nullptr || map->empty()) {
      problems_.push_back({written.path, "is " + quoted(*written.when), example});
      return;
    }
    for (const auto& [path, values] : *map) {
      const std::string at = written.path + "." + path;
      const std::optional<std::size_t> parent = parent_named(path, at);
      if (!parent) {
        continue;
      }
      if (*parent == written.leaf) {
        problems_.push_back({at, "makes " + path + " depend on itself", "another hyperparameter"});
        continue;
      }
      Space::Condition condition;
      condition.parent = *parent;
      if (read_values(values, leaves_[*parent].parameter, at, condition.values)) {
        leaves_[written.leaf].when.push_back(std::move(condition));
      }
    }
  }

 private:
  std::optional<std::size_t> parent_named(const std::string& path, const std::string& at) {
    const auto found = by_path_.find(path);
    if (found != by_path_.end()) {
      if (has_listed_values(leaves_[found->second].parameter)) {
        return found->second;
      }
      problems_.push_back(
          {at, "names a range of real numbers without a step",
           "a const, an int, a categorical or a double with a step: their values can be listed"});
      return std::nullopt;
    }
    const auto member = by_path_.lower_bound(path + ".");
    if (member != by_path_.end() && member->first.starts_with(path + ".")) {
      problems_.push_back({at, "names a group of hyperparameters",
                           "one of its members by its full name, such as " + member->first});
      return std::nullopt;
    }
    std::vector<std::string_view> known;
    constexpr std::size_t most_compared = 1'000;
    for (const auto& [name, leaf] : by_path_) {
      if (known.size() < most_compared) {
        known.emplace_back(name);
      }
    }
    const std::string_view meant = nearest(path, known);
    problems_.push_back({at, "is not a hyperparameter of this experiment",
                         meant.empty() ? "the full name of a hyperparameter, such as optimizer.type"
                                       : "did you mean `" + std::string(meant) + "`?"});
    return std::nullopt;
  }

  bool read_values(const Value& given, const Parameter& parent, const std::string& at,
                   std::vector<Value>& values) {
    const Value::List* list = given.as_list();
    if (list != nullptr && list->empty()) {
      problems_.push_back({at, "is []", "at least one value"});
      return false;
    }
    const std::span<const Value> all = list != nullptr ? std::span(*list) : std::span(&given, 1);
    for (const Value& value : all) {
      const std::string allowed = objection_to(value, parent);
      if (!allowed.empty()) {
        problems_.push_back({at, "is " + quoted(value), allowed});
        return false;
      }
      Value as_drawn = settled(value, parent);
      if (std::find(values.begin(), values.end(), as_drawn) == values.end()) {
        values.push_back(std::move(as_drawn));
      }
    }
    return true;
  }

  std::string_view at_;
  std::vector<Space::Leaf>& leaves_;
  Problems& problems_;
  std::map<std::string, std::size_t> by_path_;
};

/// "a depends on b, b depends on a", beginning anywhere; only leaves that `ordered` lacks are looked at.
std::string circle_in(std::span<const Space::Leaf> leaves, const std::vector<bool>& ordered,
                      std::size_t start) {
  std::vector<std::size_t> way;
  std::size_t here = start;
  while (std::find(way.begin(), way.end(), here) == way.end()) {
    way.push_back(here);
    for (const Space::Condition& condition : leaves[here].when) {
      if (!ordered[condition.parent]) {
        here = condition.parent;
        break;
      }
    }
  }
  way.erase(way.begin(), std::find(way.begin(), way.end(), here));
  std::string text;
  for (std::size_t i = 0; i < way.size() && i < 4; ++i) {
    text +=
        (i == 0 ? "" : ", ") + leaves[way[i]].path + " depends on " + leaves[way[(i + 1) % way.size()]].path;
  }
  return text + (way.size() > 4 ? ", …" : "");
}

/// A text as people write it in YAML, where that is plain.
std::string plain_text(const Value& value) {
  const std::string* text = value.as_text();
  const bool plain = text != nullptr && !text->empty() && *text != "true" && *text != "false" &&
                     *text != "null" && std::isalpha(static_cast<unsigned char>(text->front())) != 0 &&
                     std::all_of(text->begin(), text->end(), [](unsigned char c) {
                       return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
                     });
  return plain ? *text : quoted(value);
}

}  // namespace

void read_conditions(std::span<const WrittenCondition> written, std::string_view at,
                     std::vector<Space::Leaf>& leaves, Problems& problems) {
  const std::size_t before = problems.size();
  ConditionsReader reader(at, leaves, problems);
  for (const WrittenCondition& one : written) {
    reader.read(one);
  }
  if (problems.size() > before) {
    return;
  }
  const auto path_of = [&](std::size_t leaf) {
    return std::find_if(written.begin(), written.end(), [&](const auto& one) { return one.leaf == leaf; })
        ->path;
  };
  const std::vector<std::size_t> order = ordered_by_parents(leaves);
  if (order.size() < leaves.size()) {
    std::vector<bool> ordered(leaves.size(), false);
    for (const std::size_t leaf : order) {
      ordered[leaf] = true;
    }
    const auto first =
        static_cast<std::size_t>(std::find(ordered.begin(), ordered.end(), false) - ordered.begin());
    problems.push_back({path_of(first), "is part of a circle: " + circle_in(leaves, ordered, first),
                        "conditions on hyperparameters that do not depend on this one"});
    return;
  }
  const std::optional<Combinations> all = Combinations::of_values(leaves);
  if (!all) {
    problems.push_back({std::string(at), "have conditions with too many outcomes at once",
                        "fewer conditions on different hyperparameters"});
    return;
  }
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    if (!all->reachable()[leaf]) {
      problems.push_back({path_of(leaf), "never holds: no trial would have " + leaves[leaf].path,
                          "values that the named hyperparameters have at the same time"});
      return;  // Leaves that depend on it have the same problem.
    }
  }
}

std::vector<std::size_t> ordered_by_parents(std::span<const Space::Leaf> leaves) {
  const std::vector<std::vector<std::size_t>> children = children_of(leaves);
  std::vector<std::size_t> waiting(leaves.size(), 0);  // Parents that are not placed.
  for (const std::vector<std::size_t>& of_one : children) {
    for (const std::size_t child : of_one) {
      ++waiting[child];
    }
  }
  std::vector<std::size_t> order;
  std::vector<std::size_t> next;
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    if (!leaves[leaf].when.empty()) {
      continue;
    }
    next.push_back(leaf);
    while (!next.empty()) {
      const std::size_t here = next.back();
      next.pop_back();
      order.push_back(here);
      for (auto child = children[here].rbegin(); child != children[here].rend(); ++child) {
        if (--waiting[*child] == 0) {
          next.push_back(*child);
        }
      }
    }
  }
  return order;
}

std::vector<std::vector<std::size_t>> children_of(std::span<const Space::Leaf> leaves) {
  std::vector<std::vector<std::size_t>> children(leaves.size());
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    for (const Space::Condition& condition : leaves[leaf].when) {
      std::vector<std::size_t>& of_parent = children[condition.parent];
      if (of_parent.empty() || of_parent.back() != leaf) {
        of_parent.push_back(leaf);
      }
    }
  }
  return children;
}

bool Space::Condition::holds(const Value& value) const noexcept {
  return std::find(values.begin(), values.end(), value) != values.end();
}

Value Space::configuration_of(std::vector<Value> values) const {
  const std::vector<bool> active = active_among(values);
  Value configuration = Value::Map();
  for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    if (active[leaf]) {
      put_leaf(configuration, leaves_[leaf].keys, std::move(values[leaf]));
    }
  }
  return configuration;
}

std::vector<bool> Space::active_among(std::span<const Value> values) const {
  std::vector<bool> active(leaves_.size(), true);
  for (const std::size_t leaf : parents_first_) {
    for (const Condition& condition : leaves_[leaf].when) {
      active[leaf] = active[leaf] && active[condition.parent] && condition.holds(values[condition.parent]);
    }
  }
  return active;
}

std::vector<bool> Space::active_in(const Value& configuration) const {
  std::vector<bool> active(leaves_.size(), true);
  for (const std::size_t leaf : parents_first_) {
    for (const Condition& condition : leaves_[leaf].when) {
      const Value* value = configuration.at_keys(leaves_[condition.parent].keys);
      active[leaf] = active[leaf] && active[condition.parent] && value != nullptr && condition.holds(*value);
    }
  }
  return active;
}

std::string Space::when_text(std::size_t leaf) const {
  constexpr std::size_t most_values = 8;
  std::string text;
  for (const Condition& condition : leaves_[leaf].when) {
    text += (text.empty() ? "" : ", and ") + leaves_[condition.parent].path + " is ";
    if (condition.values.size() > most_values) {
      text += "one of " + std::to_string(condition.values.size()) + " values";
      continue;
    }
    for (std::size_t i = 0; i < condition.values.size(); ++i) {
      text += (i == 0                             ? ""
               : i + 1 == condition.values.size() ? " or "
                                                  : ", ") +
              plain_text(condition.values[i]);
    }
  }
  return text;
}

}  // namespace hpsearch::engine

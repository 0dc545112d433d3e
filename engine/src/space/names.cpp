#include "hpsearch/engine/space/names.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::engine {
namespace {

constexpr std::string_view prefixes[] = {"hp.", "hparams."};

bool needs_quotes(std::string_view path) {
  return !std::all_of(path.begin(), path.end(), is_name_byte);
}

/// The word without hp. or hparams., and whether it had one.
std::pair<std::string_view, bool> without_prefix(std::string_view word) {
  for (const std::string_view prefix : prefixes) {
    if (word.starts_with(prefix)) {
      return {word.substr(prefix.size()), true};
    }
  }
  return {word, false};
}

/// Whether `word` is the last keys of the path.
bool is_end_of(std::string_view path, std::string_view word) {
  return path.size() > word.size() && path.ends_with(word) && path[path.size() - word.size() - 1] == '.';
}

/// All values of a constant or a categorical.
std::vector<Value> values_of(const Parameter& parameter) {
  if (const auto* constant = std::get_if<ConstParameter>(&parameter)) {
    return {constant->val};
  }
  const auto* categorical = std::get_if<CategoricalParameter>(&parameter);
  return categorical != nullptr ? categorical->vals : std::vector<Value>();
}

Name name_of(const Space::Leaf& leaf) {
  Name name{leaf.path, true, true, false, values_of(leaf.parameter)};
  name.is_number = std::all_of(name.values.begin(), name.values.end(),
                               [](const Value& value) { return value.is_number(); });
  return name;
}

}  // namespace

bool is_name_byte(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         static_cast<unsigned char>(c) >= 0x80U;
}

std::string Name::spelled() const {
  return !is_hyperparameter ? name : needs_quotes(name) ? "hp.\"" + name + "\"" : "hp." + name;
}

Names::Names(std::span<const Space::Leaf> leaves, std::vector<Name> variables, bool leaves_can_be_missing)
    : names_(std::move(variables)) {
  for (const Space::Leaf& leaf : leaves) {
    if (needs_quotes(leaf.path)) {
      odd_.push_back(names_.size());
    }
    names_.push_back(name_of(leaf));
    names_.back().can_be_missing = leaves_can_be_missing;
  }
}

Names::Found Names::look_up(std::string_view word, Among among) const {
  const auto [path, has_prefix] = without_prefix(word);
  Found ends;
  std::optional<std::size_t> whole;  // A group may be called hp or hparams.
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const Name& name = names_[i];
    if (name.is_hyperparameter ? name.name == path
                               : among == Among::all && !has_prefix && name.name == word) {
      return {i, std::nullopt};
    }
    if (name.is_hyperparameter && !has_prefix && is_end_of(name.name, word)) {
      (ends.name ? ends.other : ends.name) = i;
    }
    if (name.is_hyperparameter && has_prefix && name.name == word) {
      whole = i;
    }
  }
  return whole ? Found{whole, std::nullopt} : ends;
}

Result<std::size_t> Names::find(std::string_view word, Among among,
                                std::span<const std::string_view> others) const {
  const Found found = look_up(word, among);
  const std::string quoted = "\"" + std::string(word.substr(0, 200)) + "\"";
  if (found.other) {
    return Error{Errc::bad_request, quoted + " may mean " + names_[*found.name].spelled() + " or " +
                                        names_[*found.other].spelled()};
  }
  if (found.name) {
    return *found.name;
  }
  const auto [path, has_prefix] = without_prefix(word);
  constexpr std::size_t most_listed = 8;
  std::vector<std::string> known(others.begin(), others.end());
  std::string list;
  for (const std::string& other : known) {
    list += ", " + other;
  }
  std::size_t listed = 0;
  for (const Name& name : names_) {
    if (!name.is_hyperparameter) {
      if (among == Among::hyperparameters) {
        continue;
      }
      known.push_back(name.name);
    } else {
      known.push_back(std::string(word.substr(0, word.size() - path.size())) + name.name);
      known.push_back(name.name.substr(name.name.rfind('.') + 1));
    }
    if (!name.is_hyperparameter || ++listed <= most_listed) {
      list += ", " + name.spelled();
    }
  }
  const std::string_view near = nearest(word, known);
  return Error{Errc::bad_request,
               "there is no " + quoted +
                   (near.empty() ? " (known: " + (list.empty() ? "no name" : list.substr(2)) +
                                       (listed > most_listed ? ", …)" : ")")
                                 : "; did you mean \"" + std::string(near) + "\"?")};
}

std::size_t Names::odd_name_at(std::string_view text) const {
  const std::string_view rest = without_prefix(text).first;
  std::size_t longest = 0;
  for (const std::size_t index : odd_) {
    std::string_view path = names_[index].name;
    const bool in_full = rest.size() < text.size();
    for (std::size_t dot = 0; dot != std::string_view::npos && !path.empty();) {
      if (rest.starts_with(path) && needs_quotes(path) &&
          (rest.size() == path.size() || !is_name_byte(rest[path.size()]))) {
        longest = std::max(longest, text.size() - rest.size() + path.size());
      }
      dot = in_full ? std::string_view::npos : path.find('.');
      path.remove_prefix(std::min(path.size(), dot) + (dot < path.size() ? 1 : 0));
    }
  }
  return longest;
}

}  // namespace hpsearch::engine

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::engine {

/// A name that a formula may use: a hyperparameter, or a variable of the place where the formula stands.
struct Name {
  std::string name;  ///< "metric"; the path of a hyperparameter.
  bool is_hyperparameter = false;
  bool is_number = true;           ///< A formula may compute with it.
  bool can_be_missing = false;     ///< A formula may compare it with null.
  std::vector<Value> values = {};  ///< All values that it can have; none: it can be any number or any text.

  /// The text that means this name in every formula: hp.optimizer.lr, hp."batch-size", metric.
  [[nodiscard]] std::string spelled() const;
};

/// All names that formulas may use in one place.
///
/// A hyperparameter is called hp.PATH or hparams.PATH, by its path, or by the end of its path where only one
/// ends so. A variable hides a hyperparameter of the same name, which is then called hp.NAME.
class Names {
 public:
  /// The variables, then the leaves of a space in their order. `leaves_can_be_missing`: Name::can_be_missing.
  explicit Names(std::span<const Space::Leaf> leaves, std::vector<Name> variables = {},
                 bool leaves_can_be_missing = false);

  [[nodiscard]] const Name& operator[](std::size_t index) const { return names_[index]; }
  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }

  enum class Among : bool { all, hyperparameters };
  struct Found {
    std::optional<std::size_t> name;   ///< Its index.
    std::optional<std::size_t> other;  ///< The word can mean this one, too.
  };
  [[nodiscard]] Found look_up(std::string_view word, Among among = Among::all) const;
  /// The index. bad_request: there is no such name, or the word can mean two. The message lists names that
  /// are near, or the first ones, with `others` in front. Cost: O(names).
  [[nodiscard]] Result<std::size_t> find(std::string_view word, Among among = Among::all,
                                         std::span<const std::string_view> others = {}) const;
  /// The number of bytes at the beginning of `text` that are the name of a hyperparameter with characters
  /// that other names don't have, such as batch-size; 0: none.
  [[nodiscard]] std::size_t odd_name_at(std::string_view text) const;

 private:
  std::vector<Name> names_;
  std::vector<std::size_t> odd_;  // Hyperparameters whose path needs quotes.
};

/// Whether the byte can stand in a name without quotes: letters, digits, '_', '.', and all that is not ASCII.
[[nodiscard]] bool is_name_byte(char c) noexcept;

}  // namespace hpsearch::engine

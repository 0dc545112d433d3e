#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::daemon {

/// The workspaces in which a caller has its role: all of them, or those that are named.
class Scope {
 public:
  static constexpr std::string_view everything = "*";
  static constexpr std::size_t most_names = 100;

  Scope() = default;  ///< All.
  /// Sorted, each once; none = all.
  explicit Scope(std::vector<std::string> names);

  [[nodiscard]] bool is_all() const noexcept { return names_.empty(); }
  [[nodiscard]] bool has(std::string_view workspace) const noexcept;
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  /// ["*"] or the names.
  [[nodiscard]] std::vector<std::string> listed() const;
  /// "*" or "nlp, vision".
  [[nodiscard]] std::string text() const;

  friend auto operator<=>(const Scope&, const Scope&) = default;

 private:
  std::vector<std::string> names_;
};

}  // namespace hpsearch::daemon

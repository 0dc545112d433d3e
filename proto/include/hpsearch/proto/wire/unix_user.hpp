#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::proto {

/// The name of a user on workers' machines, from a token. Each machine decides for itself which user has this
/// name, if any.
class UnixUser {
 public:
  static constexpr std::size_t most_bytes = 256;
  static constexpr std::string_view allowed =
      "1 to 256 printable ASCII characters without space, \":\", \"/\" and \",\", not \"-\" first, and not a "
      "number";

  /// bad_request: the text can't be the name of a user. Numbers are refused, because one machine would read
  /// them as a uid and another as a name.
  [[nodiscard]] static engine::Result<UnixUser> read(std::string_view text);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  explicit UnixUser(std::string name) : name_(std::move(name)) {}

  std::string name_;
};

}  // namespace hpsearch::proto

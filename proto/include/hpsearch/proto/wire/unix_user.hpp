#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::proto {

/// The name of a user of the workers' machines, as a token carries it. Which user it is, if any, each machine
/// decides for itself.
class UnixUser {
 public:
  static constexpr std::size_t most_bytes = 256;
  static constexpr std::string_view allowed =
      "1 to 256 printable ASCII characters without space, \":\", \"/\" and \",\", not \"-\" first, and not a "
      "number";

  /// bad_request: the text cannot be a name of a user. A number is refused, since it would be taken for a uid
  /// by one machine and for a name by another.
  [[nodiscard]] static engine::Result<UnixUser> read(std::string_view text);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  explicit UnixUser(std::string name) : name_(std::move(name)) {}

  std::string name_;
};

}  // namespace hpsearch::proto

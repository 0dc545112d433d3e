#pragma once

#include <cstdint>
#include <string_view>

namespace hpsearch::daemon {

/// Kinds of values that a placeholder of a route's path accepts; a path with a value of another kind matches
/// no route.
enum class Placeholder : std::uint8_t { none, number, digest, token_id, name };

/// The name of the segment's placeholder, "/{trial}" → "trial"; "" for a plain segment.
[[nodiscard]] constexpr std::string_view placeholder_name(std::string_view segment) noexcept {
  return segment.starts_with("/{") && segment.ends_with('}') ? segment.substr(2, segment.size() - 3)
                                                             : std::string_view();
}

[[nodiscard]] constexpr Placeholder placeholder_in(std::string_view segment) noexcept {
  const std::string_view name = placeholder_name(segment);
  return name.empty()       ? Placeholder::none
         : name == "digest" ? Placeholder::digest
         : name == "token"  ? Placeholder::token_id
         : name == "checkpoint" || name == "invite" || name == "queue" || name == "searcher" ||
                 name == "workspace"
             ? Placeholder::name
             : Placeholder::number;
}

/// Cuts the first segment off, with the slash before it.
[[nodiscard]] constexpr std::string_view take_segment(std::string_view& path) noexcept {
  const std::string_view segment = path.substr(0, path.find('/', 1));
  path.remove_prefix(segment.size());
  return segment;
}

}  // namespace hpsearch::daemon

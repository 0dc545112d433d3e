#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpsearch::engine {

/// A piece of an entrypoint's line or item: text as it stands, or what is to be put in its place.
struct EntrypointPiece {
  std::string text;
  bool is_name = false;  ///< `text` is what stood between the braces: a letter or _, then also digits, `.` and `-`.
};

/// The text in pieces, in order. `{{` and `}}` are literal braces. Braces around anything that is no name, and
/// those of ${name}, belong to the program's own language and are text. O(length).
[[nodiscard]] std::vector<EntrypointPiece> pieces_of(std::string_view text);

}  // namespace hpsearch::engine

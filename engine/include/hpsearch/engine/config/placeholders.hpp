#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::engine {

/// How a value has to be written where a placeholder stands, for the program to get it as it is.
enum class ShellPlace : std::uint8_t {
  item,           ///< An item of a list: no shell reads it.
  word,           ///< Outside quotes of a line for sh.
  double_quotes,  ///< Inside "…".
  single_quotes,  ///< Inside '…'.
  comment,        ///< Behind a #: nothing is put there.
  evaluated,      ///< Something reads it once more, or no quoting holds there: harmless texts only.
  number,         ///< Inside arithmetic and its like, where a name is evaluated too: numbers only.
  unsafe,         ///< No value is safe there.
};

/// A piece of an entrypoint's line or item: text as it stands, or what is to be put in its place.
struct EntrypointPiece {
  std::string text;
  bool is_name = false;  ///< `text` is what stood between the braces: a letter or _, then also digits, `.` and `-`.
  ShellPlace place = ShellPlace::item;  ///< Of a name.
  bool bare = true;                     ///< Nothing beside it would run into a harmless value without quotes.
  std::size_t line = 1;                 ///< From 1.
  std::string_view around{};            ///< What it stands in, for messages: "`…`". Lives for ever.
};

/// The text in pieces, in order, each name a place of `item`. `{{` and `}}` are literal braces. Braces around
/// anything that is no name, and those of ${name}, belong to the program's own language and are text. O(length).
[[nodiscard]] std::vector<EntrypointPiece> pieces_of(std::string_view text);

/// A line for `sh -c` in pieces, each name with its place. Where shells differ, or the line cannot be followed with
/// certainty, the place is `unsafe`. It is the one rule for what submission accepts and what workers write.
/// O(length).
[[nodiscard]] std::vector<EntrypointPiece> line_pieces(std::string_view line);

/// A list's items in pieces. The item that is a shell's program (sh -c PROGRAM) is a line for sh; that of another
/// interpreter is evaluated.
[[nodiscard]] std::vector<std::vector<EntrypointPiece>> item_pieces(const std::vector<std::string>& items);

/// What a name inside a map of hyperparameters stands for: its member at the dotted path, whose keys may hold dots
/// themselves; nullptr when there is none.
[[nodiscard]] const Value* member_at(const Value& map, std::string_view path) noexcept;

/// The value as it has to stand in the name's place; nothing when none is safe there for this value.
[[nodiscard]] std::optional<std::string> written(const EntrypointPiece& name, std::string_view value);

/// Several words in one name's place, for {args}; nothing when it holds no more than one word, or not these.
[[nodiscard]] std::optional<std::string> written(const EntrypointPiece& name, const std::vector<std::string>& words);

/// "{lr} in line 2, inside `…`"
[[nodiscard]] std::string described(const EntrypointPiece& name);

/// What is allowed there, and what else can be done, as messages end.
[[nodiscard]] std::string allowed_at(const EntrypointPiece& name);

}  // namespace hpsearch::engine

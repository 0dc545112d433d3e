#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/jobs/fields/engine_types.hpp"

namespace hpsearch::jobs {

/// How a placeholder that stands for all hyperparameters writes one of them.
enum class ArgumentForm : std::uint8_t {
  pair,        ///< {args}: --lr 0.1
  equals,      ///< {args_eq}: --lr=0.1
  no_hyphens,  ///< {args_no_hyphens}: lr=0.1
};

/// The form of {args} and its kind; nothing for every other name. {args_json} is one value, not several
/// words.
[[nodiscard]] std::optional<ArgumentForm> argument_form(std::string_view name) noexcept;

/// One hyperparameter in that form.
[[nodiscard]] std::vector<std::string> argument_words(ArgumentForm form, std::string_view name,
                                                      std::string_view text);

/// Names of the placeholders that are neither hyperparameters nor channels.
inline constexpr std::array<std::string_view, 7> own_placeholders = {
    "args", "args_eq", "args_json", "args_no_hyphens", "checkpoint_dir", "output_dir", "trial_id"};

/// Where a placeholder stands, and so how its value is written there.
enum class ShellPlace : std::uint8_t {
  item,      ///< An item of a list: no shell reads it.
  word,      ///< Outside quotes of a line for sh: the value becomes one word.
  reparsed,  ///< The same, but the command parses its words again (eval, ssh, sh -c): plain texts only.
  comment,   ///< After a #: the placeholder stays.
  quoted,    ///< Inside quotes, a here-document, arithmetic or the like: refused.
};

/// A piece of an entrypoint's line or item: text, or a placeholder.
struct EntrypointPiece {
  std::string text;                     ///< Of a placeholder: the name between the braces.
  bool is_name = false;                 ///< A placeholder: a letter or _, then also digits, `.` and `-`.
  ShellPlace place = ShellPlace::item;  ///< Of a placeholder.
  bool bare = true;                     ///< Nothing beside it would join a plain value that has no quotes.
  std::size_t line = 1;                 ///< From 1.
  std::string_view around{};            ///< What it stands in, for messages: "double quotes". A literal.
};

/// The text in pieces, in order, each name a place of `item`. `{{` and `}}` are literal braces. Braces around
/// anything that is no name, and those of ${name}, belong to the program's own language and are text.
/// O(length).
[[nodiscard]] std::vector<EntrypointPiece> pieces_of(std::string_view text);

/// A line for `sh -c` in pieces, each placeholder with its place. One rule for what submission accepts and
/// what workers write. The shell that runs the line never executes a value; what the line itself evaluates
/// later (a variable, a function's argument) is up to its author. O(length).
[[nodiscard]] std::vector<EntrypointPiece> line_pieces(std::string_view line);

/// A list's items in pieces. The program of a shell (sh -c PROGRAM) is a line for sh; that of another
/// interpreter (python3 -c PROGRAM) takes plain texts only.
[[nodiscard]] std::vector<std::vector<EntrypointPiece>> item_pieces(const std::vector<std::string>& items);

/// What a name inside a map of hyperparameters stands for: its member at the dotted path, whose keys may hold
/// dots themselves; nullptr when there is none.
[[nodiscard]] const Value* member_at(const Value& map, std::string_view path) noexcept;

/// The text that replaces the placeholder; nothing when its place does not take this value.
[[nodiscard]] std::optional<std::string> written(const EntrypointPiece& name, std::string_view value);

/// The words that replace {args} and its kind; nothing when its place does not take several words, or not
/// these.
[[nodiscard]] std::optional<std::string> written(const EntrypointPiece& name,
                                                 const std::vector<std::string>& words);

/// "{lr} in line 2, inside double quotes"
[[nodiscard]] std::string described(const EntrypointPiece& name);

/// What to write instead, as messages end: "$HPSEARCH_HP_LR there".
[[nodiscard]] std::string allowed_at(const EntrypointPiece& name);

}  // namespace hpsearch::jobs

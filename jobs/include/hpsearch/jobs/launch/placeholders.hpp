#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/jobs/fields/engine_types.hpp"
#include "hpsearch/jobs/fields/program.hpp"

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

/// Where a placeholder stands, and so what replaces it.
enum class Place : std::uint8_t {
  item,     ///< An item of a list: the value.
  word,     ///< Outside the quotes of a line for sh: the variable in double quotes.
  quotes,   ///< Inside double quotes or a here-document: the variable.
  comment,  ///< After a #: the placeholder stays.
  refused,  ///< Where a variable is not expanded, or not as one word.
};

/// A piece of an entrypoint's line or item: text, or a placeholder.
struct EntrypointPiece {
  std::string text;           ///< Of a placeholder: the name between the braces.
  bool is_name = false;       ///< A placeholder: a letter or _, then also digits, `.` and `-`.
  Place place = Place::item;  ///< Of a placeholder.
  bool parsed_again = false;  ///< The command parses its words again: eval, ssh, sh -c "…".
  std::size_t line = 0;       ///< Of a line for sh, from 1.
  std::string_view inside{};  ///< What it stands in, for messages: "single quotes". A literal.
};

/// The text in pieces, in order, each name a place of `item`. `{{` and `}}` are literal braces. Braces around
/// anything that is no name, and those of ${name}, belong to the program's own language and are text.
/// O(length).
[[nodiscard]] std::vector<EntrypointPiece> pieces_of(std::string_view text);

/// A line for `sh -c` in pieces, each placeholder with its place. O(length).
[[nodiscard]] std::vector<EntrypointPiece> line_pieces(std::string_view line);

/// The pieces of a line, which is one item, or of each item of a list. In [bash, -c, PROGRAM] the program is
/// a line, too.
[[nodiscard]] std::vector<std::vector<EntrypointPiece>> pieces_of(const Entrypoint& entrypoint);

/// Whether it stands for all hyperparameters, as words of their own.
[[nodiscard]] bool is_all(const EntrypointPiece& piece) noexcept;

/// The problem with the place of a placeholder, and its cure; nothing if it can be replaced
/// there. Without a path.
[[nodiscard]] std::optional<Problem> problem_of(const EntrypointPiece& piece);

/// What a name inside a map of hyperparameters stands for: its member at the dotted path, whose keys may hold
/// dots themselves; nullptr when there is none.
[[nodiscard]] const Value* member_at(const Value& map, std::string_view path) noexcept;

/// The variable that a program has for this placeholder. Where its text is not the placeholder's, which a
/// group of hyperparameters and a negative real with an exponent have, the launch sets another variable.
[[nodiscard]] std::string variable_of(std::string_view placeholder);

}  // namespace hpsearch::jobs

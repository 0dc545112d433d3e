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

/// How a placeholder for all hyperparameters writes one of them.
enum class ArgumentForm : std::uint8_t {
  pair,        ///< {args}: --lr 0.1
  equals,      ///< {args_eq}: --lr=0.1
  no_hyphens,  ///< {args_no_hyphens}: lr=0.1
};

/// The form of {args} and its variants; nothing for other names. {args_json} is one value, not several
/// words.
[[nodiscard]] std::optional<ArgumentForm> argument_form(std::string_view name) noexcept;

/// One hyperparameter in this form.
[[nodiscard]] std::vector<std::string> argument_words(ArgumentForm form, std::string_view name,
                                                      std::string_view text);

/// Names of the placeholders that are neither hyperparameters nor channels.
inline constexpr std::array<std::string_view, 7> own_placeholders = {
    "args", "args_eq", "args_json", "args_no_hyphens", "checkpoint_dir", "output_dir", "trial_id"};

/// The kind of place that a placeholder is in. It decides what replaces the placeholder.
enum class Place : std::uint8_t {
  item,     ///< An item of a list: the value.
  word,     ///< Outside of quotes in a line for sh: the variable in double quotes.
  quotes,   ///< Inside double quotes or a here-document: the variable.
  comment,  ///< After a #: the placeholder stays.
  refused,  ///< Where a variable isn't expanded, or expands to several words.
};

/// A piece of an entrypoint's line or item: text, or a placeholder.
struct EntrypointPiece {
  std::string text;           ///< The name between the braces of a placeholder, or the text.
  bool is_name = false;       ///< A placeholder: a letter or _, then also digits, `.` and `-`.
  Place place = Place::item;  ///< For a placeholder.
  bool parsed_again = false;  ///< The command parses its words again: eval, ssh, sh -c "…".
  std::size_t line = 0;       ///< In a line for sh, from 1.
  std::string_view inside{};  ///< The surrounding syntax for messages, a literal: "single quotes".
};

/// Splits the text into pieces; each name has the place `item`. `{{`
/// and `}}` are literal braces. Braces
/// around anything else, and those of ${name}, belong to the program's language and are text. O(length).
[[nodiscard]] std::vector<EntrypointPiece> pieces_of(std::string_view text);

/// Splits a line for `sh -c` into pieces; each placeholder has its place. O(length).
[[nodiscard]] std::vector<EntrypointPiece> line_pieces(std::string_view line);

/// The pieces of a line, which is one item, or of each item of a list. In [bash, -c, PROGRAM], the program is
/// also a line.
[[nodiscard]] std::vector<std::vector<EntrypointPiece>> pieces_of(const Entrypoint& entrypoint);

/// Whether the placeholder stands for all hyperparameters, as separate words.
[[nodiscard]] bool is_all(const EntrypointPiece& piece) noexcept;

/// Why the placeholder can't be replaced in its place, and what to write instead; nothing if it can
/// be replaced. Has no path.
[[nodiscard]] std::optional<Problem> problem_of(const EntrypointPiece& piece);

/// The value for a name inside a map of hyperparameters: the member at the dotted path, whose keys may have
/// dots; nullptr if there is none.
[[nodiscard]] const Value* member_at(const Value& map, std::string_view path) noexcept;

/// The program's variable for this placeholder. For a group of hyperparameters and for a negative real with
/// an exponent the texts differ; then the launch sets another variable.
[[nodiscard]] std::string variable_of(std::string_view placeholder);

}  // namespace hpsearch::jobs

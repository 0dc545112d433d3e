#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/space/bool_style.hpp"
#include "hpsearch/jobs/fields/engine_types.hpp"

namespace hpsearch::jobs {

/// How a program learns where a channel lies, besides PAI_INPUT_<CHANNEL> and PAI_OUTPUT_<CHANNEL>.
enum class PassedAs : std::uint8_t {
  channel,   ///< By those alone.
  argument,  ///< --name=path, wherever {args} or {args_eq} stands.
  variable,  ///< A variable of the channel's own name, letter for letter.
};
inline constexpr std::array<std::string_view, 3> passed_as_names = {"channel", "argument", "variable"};
[[nodiscard]] std::string_view name_of(PassedAs passed) noexcept;
[[nodiscard]] std::optional<PassedAs> passed_as_named(std::string_view name) noexcept;

/// A named place that a program reads from or writes to.
struct Channel {
  std::string name;
  /// An output's is absolute, or "": it stays in the attempt. An input's is a directory or a file, absolute
  /// or below the context directory.
  std::string path;
  PassedAs passed_as = PassedAs::channel;
  bool pre_download = false;  ///< Outputs only: filled with what the trial's attempt before this one left.
  friend bool operator==(const Channel&, const Channel&) = default;
};

/// The bool style of one hyperparameter, by its flat name.
struct NamedBoolStyle {
  std::string name;
  BoolStyle style = BoolStyle::python;
  friend bool operator==(const NamedBoolStyle&, const NamedBoolStyle&) = default;
};

/// A file or directory of a worker's machine that a program sees elsewhere.
struct BindMount {
  std::string host_path;       ///< Absolute.
  std::string container_path;  ///< Absolute, or below the program's current directory.
  bool read_only = false;
  friend bool operator==(const BindMount&, const BindMount&) = default;
};

/// What a program asks of the way it is started (docs/job-contract.md), beyond what every program gets.
struct JobContract {
  std::vector<Channel> inputs;              ///< Sorted by name.
  std::vector<Channel> outputs;             ///< Sorted by name.
  std::vector<NamedBoolStyle> bool_styles;  ///< Sorted by name; others are `python`.
  bool pai_hps_strings = false;             ///< PAI_HPS holds texts, as PAI's local runner writes it.
  bool ml_layout = false;                   ///< The attempt's tree is to be seen at /ml, where that can be.
  bool in_place = false;                    ///< Programs run in the context directory itself.
  std::string image{};                      ///< Container image of programs without GPUs; "" = no container.
  std::string gpu_image{};                  ///< Of those with GPUs; "" = no container.
  bool pull_image = false;               ///< Fetched anew for every attempt, not only when it is not there.
  std::vector<BindMount> bind_mounts{};  ///< In the experiment's order.
  bool terminal = false;                 ///< Its standard output is a terminal.
  friend bool operator==(const JobContract&, const JobContract&) = default;
};

/// The variable part of a name: capitals, with _ for whatever is no ASCII letter, digit or _ (each byte
/// counts once for its character): "learning-rate" → "LEARNING_RATE".
[[nodiscard]] std::string variable_part(std::string_view name);

/// Whether PAI's forms can carry a hyperparameter of this name: 1 to 64 of letters, digits, `_`, `-` and `.`,
/// not beginning with `_`.
[[nodiscard]] bool is_pai_name(std::string_view name) noexcept;

/// Whether they can carry this value: a text, number or boolean.
[[nodiscard]] bool is_pai_value(const Value& value) noexcept;

/// Whether a shell leaves this text alone wherever it stands: not empty, nothing but letters, digits and
/// @%+=:,./_-.
[[nodiscard]] bool is_shell_safe(std::string_view text) noexcept;

}  // namespace hpsearch::jobs

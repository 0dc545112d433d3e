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

/// How a program gets the path of a channel, besides PAI_INPUT_<CHANNEL> and PAI_OUTPUT_<CHANNEL>.
enum class PassedAs : std::uint8_t {
  channel,   ///< Only by those variables.
  argument,  ///< Also as --name=path, in the place of {args} or {args_eq}.
  variable,  ///< Also as a variable with exactly the channel's name.
};
inline constexpr std::array<std::string_view, 3> passed_as_names = {"channel", "argument", "variable"};
[[nodiscard]] std::string_view name_of(PassedAs passed) noexcept;
[[nodiscard]] std::optional<PassedAs> passed_as_named(std::string_view name) noexcept;

/// A named place that a program reads from or writes to.
struct Channel {
  std::string name;
  /// An output's path is absolute, or "": the output stays in the attempt's directory. An input's path is a
  /// directory or a file, absolute or below the context directory.
  std::string path;
  PassedAs passed_as = PassedAs::channel;
  bool pre_download = false;  ///< For outputs only: filled with the output of the trial's previous attempt.
  friend bool operator==(const Channel&, const Channel&) = default;
};

/// The bool style of one hyperparameter, by its flat name.
struct NamedBoolStyle {
  std::string name;
  BoolStyle style = BoolStyle::python;
  friend bool operator==(const NamedBoolStyle&, const NamedBoolStyle&) = default;
};

/// A file or directory of a worker's machine that a program sees at another path.
struct BindMount {
  std::string host_path;       ///< Absolute.
  std::string container_path;  ///< Absolute, or below the program's current directory.
  bool read_only = false;
  friend bool operator==(const BindMount&, const BindMount&) = default;
};

/// A program needs this at its start, besides what every program gets (docs/job-contract.md).
struct JobContract {
  std::vector<Channel> inputs;              ///< Sorted by name.
  std::vector<Channel> outputs;             ///< Sorted by name.
  std::vector<NamedBoolStyle> bool_styles;  ///< Sorted by name; others are `python`.
  bool pai_hps_strings = false;             ///< PAI_HPS holds texts; PAI's local runner writes it so.
  bool ml_layout = false;   ///< The program sees the attempt's tree at /ml, on workers that can mount it.
  bool in_place = false;    ///< Programs run in the context directory itself.
  std::string image{};      ///< Container image of programs without GPUs; "" = no container.
  std::string gpu_image{};  ///< For programs with GPUs; "" = no container.
  bool pull_image = false;  ///< Pulled for every attempt, even if the worker has it.
  std::vector<BindMount> bind_mounts{};  ///< In the experiment's order.
  bool terminal = false;                 ///< The program's standard output is a terminal.
  friend bool operator==(const JobContract&, const JobContract&) = default;
};

/// A name as a part of a variable's name: in capitals, with _ for each character that is no ASCII letter,
/// digit or _: "learning-rate" → "LEARNING_RATE".
[[nodiscard]] std::string variable_part(std::string_view name);

/// Whether PAI's variables can carry a hyperparameter with this name: 1 to 64 of letters, digits, `_`, `-`,
/// `.`, not beginning with `_`.
[[nodiscard]] bool is_pai_name(std::string_view name) noexcept;

/// Whether PAI's variables can carry this value: a text, number or boolean.
[[nodiscard]] bool is_pai_value(const Value& value) noexcept;

/// Whether a shell leaves this text unchanged in any place: it isn't empty and has only letters, digits and
/// @%+=:,./_-.
[[nodiscard]] bool is_shell_safe(std::string_view text) noexcept;

}  // namespace hpsearch::jobs

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/jobs/fields/program.hpp"

namespace hpsearch::jobs {

/// The beginning of an entrypoint: its words before the first that a shell or a hyperparameter would change.
/// Empty if that is the first word, or if the first is a command of the shell itself
/// (cd, export, if). A list's items end at the first with a placeholder. O(length).
[[nodiscard]] std::vector<std::string> plain_start(const Entrypoint& entrypoint);

/// "/usr/bin/python3.11" → "python3.11"
[[nodiscard]] std::string_view file_name_of(std::string_view word) noexcept;

/// The module of Python that runs a program in which `import wandb` finds hpsearch.
inline constexpr std::string_view stand_in_for_wandb = "hpsearch.wandb";

/// The file that an interpreter runs: train.py of `python3 -u train.py`, and of `python3 -m
/// hpsearch.wandb train.py`. Nothing if the program is no known interpreter, for python3 -m of other
/// modules and -c, and for unknown options.
[[nodiscard]] std::optional<std::string> script_of(const std::vector<std::string>& start);

/// The module that Python runs: pkg.train of `python3 -m pkg.train`, also after hpsearch.wandb.
[[nodiscard]] std::optional<std::string> module_of(const std::vector<std::string>& start);

/// Whether the words are a shell and its options up to -c (bash -lc): the next word is a line for it, which
/// can use the program's variables.
[[nodiscard]] bool takes_line_for_shell(std::span<const std::string> words);

/// Whether the command parses its next word again, as a command or as a program's text: eval x,
/// ssh node, timeout 9 bash -c, python3 -u -c.
[[nodiscard]] bool parses_again(std::span<const std::string> words);

/// The Python that runs the program: the entrypoint's first word if that is a Python, else python3 of PATH.
[[nodiscard]] std::string python_of(const Entrypoint& entrypoint);

}  // namespace hpsearch::jobs

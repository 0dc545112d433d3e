#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/jobs/fields/program.hpp"

namespace hpsearch::jobs {

/// How an entrypoint begins, as far as its text shows it: its first words, up to the first that a shell or a
/// hyperparameter would change. Empty when that is the first, or when it is a command of the shell itself
/// (cd, export, if). Of a list: its items, up to the first with a placeholder. O(length).
[[nodiscard]] std::vector<std::string> plain_start(const Entrypoint& entrypoint);

/// "/usr/bin/python3.11" → "python3.11"
[[nodiscard]] std::string_view file_name_of(std::string_view word) noexcept;

/// The module of Python that runs a program in which `import wandb` finds hpsearch.
inline constexpr std::string_view stand_in_for_wandb = "hpsearch.wandb";

/// The file that an interpreter is told to run: train.py of `python3 -u train.py`, and of `python3 -m
/// hpsearch.wandb train.py`. Nothing for programs that are not known to be one, for python3 -m of other
/// modules and -c, and where an option is not known.
[[nodiscard]] std::optional<std::string> script_of(const std::vector<std::string>& start);

/// The module that Python is told to run: pkg.train of `python3 -m pkg.train`, also behind hpsearch.wandb.
[[nodiscard]] std::optional<std::string> module_of(const std::vector<std::string>& start);

/// Whether the words are a shell and its options up to -c: the next word is a line for it, which has the
/// variables of the program: bash -lc.
[[nodiscard]] bool takes_line_for_shell(std::span<const std::string> words);

/// Whether whatever the words start parses the next one again, as a command or as a program's text: eval x,
/// ssh node, timeout 9 bash -c, python3 -u -c.
[[nodiscard]] bool parses_again(std::span<const std::string> words);

/// The Python that runs the program: the entrypoint's first word if it is one, else python3 of PATH.
[[nodiscard]] std::string python_of(const Entrypoint& entrypoint);

}  // namespace hpsearch::jobs

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/jobs/yaml/line_map.hpp"

namespace hpsearch::yaml {

/// Limits for one experiment file, which is untrusted.
struct FileLimits {
  std::size_t bytes = 256 * 1024;
  std::size_t depth = 32;
  std::size_t nodes = 100'000;
  std::size_t scalar_bytes = 64 * 1024;
  std::size_t text_bytes = 4 * 1024 * 1024;  ///< Bytes of all values, with aliases expanded.
};

/// A problem and its line in the file; 0 if it has no line.
struct FileProblem {
  std::size_t line = 0;
  engine::Problem problem;
  std::string file = {};  ///< The component's file; "" for the experiment file itself.
};

/// A text as a tree. `tree` is empty if the text couldn't be read to its end. It may be set although
/// there are `problems` (a duplicate key, for example), so that all problems can be reported at once.
struct ReadText {
  std::optional<engine::Value> tree;
  LineMap lines;
  std::vector<FileProblem> problems;
};

/// Reads YAML 1.2 (and so JSON), and resolves scalars itself:
///
/// - Plain scalars are null (null, ~ and the empty one) or the result of resolve_plain. `yes` and `no`
///   are text; the engine reads them as booleans where it expects one.
/// - Quoted and block scalars are always text.
/// - An alias stands for a copy of its anchor's value, and `<<` adds the members of a map, or of a list
/// of
///   maps, that its own map lacks; the first map of a list wins. The copies count for the limits.
/// - Refused, each with its line: tags, more than one document, keys that are duplicate or no plain words,
///   .inf and .nan, numbers that don't fit, control characters, bytes that aren't UTF-8, and texts
///   beyond a limit.
[[nodiscard]] ReadText read_experiment_text(std::string_view text, const FileLimits& limits = {});

/// "file:line: path: what (allowed)", without the parts that are empty.
[[nodiscard]] std::string to_text(const std::string& path, const FileProblem& problem);

/// A line for each problem of the text, then for each one that was `found` in its tree.
[[nodiscard]] std::string all_problems(const std::string& path, const ReadText& text,
                                       const engine::Problems& found);

}  // namespace hpsearch::yaml

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

/// What one experiment file may cost us before we trust it.
struct FileLimits {
  std::size_t bytes = 256 * 1024;
  std::size_t depth = 32;
  std::size_t nodes = 100'000;
  std::size_t scalar_bytes = 64 * 1024;
  std::size_t text_bytes = 4 * 1024 * 1024;  ///< Of all values, aliases written out.
};

/// A problem and the line of the file it stands on; 0 when it has no line.
struct FileProblem {
  std::size_t line = 0;
  engine::Problem problem;
  std::string file = {};  ///< Where it is not the file that was asked for: the component it names.
};

/// A text as a tree. `tree` is empty when the text could not be read to its end; it may be there although
/// `problems` is not empty (a key that stands twice, for example), so that all problems can be told at once.
struct ReadText {
  std::optional<engine::Value> tree;
  LineMap lines;
  std::vector<FileProblem> problems;
};

/// Reads YAML 1.2 (and so JSON), resolving scalars by ourselves:
///
/// - Plain scalars are null (null, ~ and nothing at all) or what resolve_plain makes of them. `yes` and `no`
///   are text; the engine takes them for booleans where it expects one.
/// - Quoted and block scalars are always text.
/// - An alias stands for a copy of what its anchor marks, and `<<` takes the members of a map, or of a list
/// of
///   maps, that stand nowhere else in its own map; the first map of a list wins. Limits count the copies.
/// - Refused, each with its line: tags, more than one document, keys that stand twice or are no plain words,
///   .inf and .nan, numbers that do not fit, control characters, bytes that are not UTF-8, and whatever
///   passes a limit.
[[nodiscard]] ReadText read_experiment_text(std::string_view text, const FileLimits& limits = {});

/// "file:line: path: what (allowed)", without what is missing.
[[nodiscard]] std::string to_text(const std::string& path, const FileProblem& problem);

}  // namespace hpsearch::yaml

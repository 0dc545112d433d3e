#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/value.hpp"

// Logs that were changed by somebody who also computed the checksums again: every line reads as an event, and
// what follows must be an error that names the event, or a state that the engine can live with.

namespace hpsearch::forged {

/// Events as saved searches have them, one on each line.
using Lines = std::vector<engine::Value>;

/// Logs of small clusters: every searcher and sampler, attempts on several workers, pauses, changed limits,
/// quarantines, restored stores.
[[nodiscard]] std::vector<Lines> logs_of_clusters(std::uint64_t seed, int count);
/// Logs of searches in a program.
[[nodiscard]] std::vector<Lines> logs_of_searches(std::uint64_t seed, int count);

/// One to three changes: of numbers, texts and lists, of parts that other lines have, of the lines' order.
[[nodiscard]] Lines forge(const std::vector<Lines>& logs, std::mt19937_64& random);

[[nodiscard]] std::string text_of(const Lines& lines);
/// As hpsearch_save() returns them: each line after its checksum, and the end.
[[nodiscard]] std::string with_checksums(std::string_view lines);

/// What came of a log.
enum class Outcome : std::uint8_t { no_events, refused, lived_on };

/// Replays the lines and goes on from there. Aborts (HPSEARCH_CHECK) if an error does not say where.
Outcome replay(const Lines& lines, std::uint64_t seed, std::string* why = nullptr);
/// Loads the text through the C library and uses the search. Aborts as replay() does.
Outcome load(std::string_view text);

}  // namespace hpsearch::forged

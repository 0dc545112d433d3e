#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/spell.hpp"

namespace hpsearch::proto {

// The files in working directories that a worker keeps, below
// trials/STORE/EXPERIMENT in its state directory: the worker writes them, and `hpsearch files` reads them.

inline constexpr const char* kept_trials_name = "kept.json";     ///< KeptTrials of the experiment.
inline constexpr const char* kept_files_name = "files";          ///< Below TRIAL: the files.
inline constexpr const char* dropped_files_name = "files.json";  ///< Below TRIAL: DroppedFiles.

inline constexpr std::size_t most_kept_trials = 1000;    ///< In one KeptTrials.
inline constexpr std::size_t most_named_dropped = 1000;  ///< In one DroppedFiles.
inline constexpr JsonLimits kept_files_limits{
    .bytes = std::size_t{16} * 1024 * 1024, .depth = 8, .nodes = std::size_t{1} * 1024 * 1024};

struct KeptTrial {
  engine::TrialNumber trial;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::optional<double> metric;  ///< The trial's best one.
  std::uint64_t turn = 0;        ///< Higher for trials that left files later.
};

void spell(auto& fields, Is<KeptTrial> auto& kept) {
  fields("trial", kept.trial);
  fields("files", kept.files);
  fields("bytes", kept.bytes);
  fields.maybe("metric", kept.metric);
  fields("turn", kept.turn);
}

struct KeptTrials {
  std::vector<KeptTrial> trials;
  std::uint64_t dropped = 0;  ///< Trials whose files were all removed.
};

void spell(auto& fields, Is<KeptTrials> auto& kept) {
  fields("trials", kept.trials);
  fields.maybe("dropped", kept.dropped);
}

struct DroppedFile {
  std::string path;  ///< Relative to the working directory; bytes that aren't UTF-8 are replaced.
  std::uint64_t bytes = 0;
  std::string why;
};

void spell(auto& fields, Is<DroppedFile> auto& dropped) {
  fields("path", dropped.path);
  fields("bytes", dropped.bytes);
  fields("why", dropped.why);
}

struct DroppedFiles {
  std::vector<DroppedFile> files;
  std::uint64_t unnamed = 0;  ///< The number of files beyond most_named_dropped.
};

void spell(auto& fields, Is<DroppedFiles> auto& dropped) {
  fields("dropped", dropped.files);
  fields.maybe("unnamed", dropped.unnamed);
}

}  // namespace hpsearch::proto

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/proto/json.hpp"
#include "hpsearch/proto/spell.hpp"

namespace hpsearch::proto {

// What a published checkpoint holds: a worker writes it last, and whoever copies the checkpoint compares.

/// Name of the list of files that makes a directory a checkpoint.
inline constexpr const char* manifest_name = "manifest.json";
inline constexpr const char* manifest_mark = "hpsearch checkpoint";
inline constexpr std::size_t largest_manifest = std::size_t{64} * 1024 * 1024;
inline constexpr JsonLimits manifest_limits{.bytes = largest_manifest, .depth = 8, .nodes = largest_manifest};

/// A link, or a file with its size and checksum.
struct ManifestEntry {
  std::string path;
  std::optional<std::string> link;
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint32_t> crc32c;
};

void spell(auto& fields, Is<ManifestEntry> auto& entry) {
  fields("path", entry.path);
  fields.maybe("link", entry.link);
  fields.maybe("bytes", entry.bytes);
  fields.maybe("crc32c", entry.crc32c);
}

struct CheckpointManifest {
  std::string what;
  std::uint64_t format = 0;
  engine::ExperimentId experiment;
  engine::TrialNumber trial;
  engine::AttemptNumber attempt;
  engine::Units step{};
  std::vector<ManifestEntry> files;
};

void spell(auto& fields, Is<CheckpointManifest> auto& manifest) {
  fields("what", manifest.what);
  fields("format", manifest.format);
  fields("experiment", manifest.experiment);
  fields("trial", manifest.trial);
  fields("attempt", manifest.attempt);
  fields("step", manifest.step);
  fields("files", manifest.files);
}

}  // namespace hpsearch::proto

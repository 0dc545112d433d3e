#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/spell.hpp"

namespace hpsearch::proto {

// The list of a published checkpoint's files. The worker writes it last, and every copy is compared with it.

/// A directory with this file is a checkpoint.
inline constexpr const char* manifest_name = "manifest.json";
inline constexpr const char* manifest_mark = "hpsearch checkpoint";
inline constexpr std::size_t largest_manifest = std::size_t{64} * 1024 * 1024;
inline constexpr JsonLimits manifest_limits{.bytes = largest_manifest, .depth = 8, .nodes = largest_manifest};

/// A link, or a file with its size and checksum.
///
/// Paths and links are bytes. In a manifest's text, a path that isn't UTF-8 also has its bytes in
/// hexadecimal; only read_manifest() and manifest_text() handle that.
struct ManifestEntry {
  std::string path;
  std::optional<std::string> link;
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint32_t> crc32c;
  std::optional<std::string> path_hex{};
  std::optional<std::string> link_hex{};
};

void spell(auto& fields, Is<ManifestEntry> auto& entry) {
  fields("path", entry.path);
  fields.maybe("path_hex", entry.path_hex);
  fields.maybe("link", entry.link);
  fields.maybe("link_hex", entry.link_hex);
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

[[nodiscard]] std::string manifest_text(CheckpointManifest manifest);
/// corrupt: it is no manifest, with the reason.
[[nodiscard]] engine::Result<CheckpointManifest> read_manifest(std::string_view text);

}  // namespace hpsearch::proto

#include "hpsearch/proto/wire/checkpoint_manifest.hpp"

#include <cstddef>
#include <utility>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::proto {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;

/// Nothing if it is no name; the bytes of a name are never 0.
std::optional<std::string> name_of_hex(std::string_view hex) {
  auto bytes = engine::bytes_of_hex(hex);
  return bytes && bytes->find('\0') == std::string::npos ? std::move(bytes) : std::nullopt;
}

void make_text(std::string& name, std::optional<std::string>& hex) {
  if (!is_utf8(name)) {
    hex = engine::hex_of(name);
    name = to_utf8(name);
  }
}

/// False if the text isn't hexadecimal.
bool make_bytes(std::string& name, std::optional<std::string>& hex) {
  if (!hex) {
    return true;
  }
  auto bytes = name_of_hex(*hex);
  hex.reset();
  name = bytes.value_or("");
  return bytes.has_value();
}

}  // namespace

std::string manifest_text(CheckpointManifest manifest) {
  for (ManifestEntry& entry : manifest.files) {
    make_text(entry.path, entry.path_hex);
    if (entry.link) {
      make_text(*entry.link, entry.link_hex);
    }
  }
  return pretty_json(encode_value(manifest));
}

Result<CheckpointManifest> read_manifest(std::string_view text) {
  const auto value = parse_json(text, manifest_limits);
  auto manifest =
      value ? decode_value<CheckpointManifest>(*value) : Result<CheckpointManifest>(value.error());
  if (!manifest) {
    return manifest;
  }
  for (ManifestEntry& entry : manifest->files) {
    const bool link_hex_alone = entry.link_hex && !entry.link;
    if (link_hex_alone || !make_bytes(entry.path, entry.path_hex) ||
        (entry.link && !make_bytes(*entry.link, entry.link_hex))) {
      return Error{Errc::corrupt, "a name of its files is no text of hexadecimal digits"};
    }
  }
  return manifest;
}

}  // namespace hpsearch::proto

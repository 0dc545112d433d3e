#include "hpsearch/proto/wire/checkpoint_manifest.hpp"

#include <cstddef>
#include <utility>

#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::proto {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;

constexpr std::string_view digits = "0123456789abcdef";

std::string hex_of(std::string_view bytes) {
  std::string hex;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    hex.push_back(digits[value >> 4U]);
    hex.push_back(digits[value & 0xFU]);
  }
  return hex;
}

/// Nothing for what hex_of() makes of no name.
std::optional<std::string> bytes_of(std::string_view hex) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    const std::size_t high = digits.find(hex[at]);
    const std::size_t low = digits.find(hex[at + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos || high + low == 0) {
      return std::nullopt;
    }
    bytes.push_back(static_cast<char>((high << 4U) | low));
  }
  return hex.size() % 2 == 0 ? std::optional(std::move(bytes)) : std::nullopt;
}

void make_text(std::string& name, std::optional<std::string>& hex) {
  if (!is_utf8(name)) {
    hex = hex_of(name);
    name = to_utf8(name);
  }
}

/// False where the digits are none.
bool make_bytes(std::string& name, std::optional<std::string>& hex) {
  if (!hex) {
    return true;
  }
  auto bytes = bytes_of(*hex);
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

#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/files/directory.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/workers/shell/files.hpp"

// Spelled structs in files with one line of JSON, which operators read. Only for sources.

namespace hpsearch::workers {

/// Replaces the content: readers see the new or the old one, never a mixture. `durable`: also on disk.
template <class T>
engine::Status write_json_file(const std::filesystem::path& path, const T& record, bool durable) {
  return write_file(path, engine::compact_json(proto::encode_value(record)) + "\n", durable);
}

template <class T>
[[nodiscard]] engine::Result<T> read_json_text(const engine::Result<std::string>& text,
                                               const proto::JsonLimits& limits = {}) {
  if (!text) {
    return text.error();
  }
  const engine::Result<engine::Value> value = proto::parse_json(*text, limits);
  return value ? proto::decode_value<T>(*value) : engine::Result<T>(value.error());
}

/// not_found: there is no such file. corrupt: it is larger than `limit`, or write_json_file() can't have
/// written it for a T.
template <class T>
[[nodiscard]] engine::Result<T> read_json_file(const std::filesystem::path& path,
                                               std::size_t limit = std::size_t{64} * 1024) {
  return read_json_text<T>(read_file(path, limit));
}

/// The same for files in a directory that programs can write to.
template <class T>
engine::Status write_json_file(const files::Directory& directory, const std::filesystem::path& name,
                               const T& record, bool durable) {
  return directory.write(name, engine::compact_json(proto::encode_value(record)) + "\n", durable);
}
template <class T>
[[nodiscard]] engine::Result<T> read_json_file(const files::Directory& directory,
                                               const std::filesystem::path& name,
                                               std::size_t limit = std::size_t{64} * 1024) {
  return read_json_text<T>(directory.read(name, limit));
}
template <class T>
[[nodiscard]] engine::Result<T> read_json_file(const files::Directory& directory,
                                               const std::filesystem::path& name,
                                               const proto::JsonLimits& limits) {
  return read_json_text<T>(directory.read(name, limits.bytes), limits);
}

}  // namespace hpsearch::workers

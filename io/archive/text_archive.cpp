#include "hpsearch/io/archive/text_archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <zstd.h>

#include <memory>
#include <string_view>

namespace hpsearch::files {
namespace {

using engine::Errc;
using engine::Error;

constexpr int zstd_level = 3;

struct FreeTextEntry {
  void operator()(archive_entry* entry) const noexcept { archive_entry_free(entry); }
};
struct FreeTextWriter {
  void operator()(archive* writer) const noexcept { archive_write_free(writer); }
};

la_ssize_t append_text(archive*, void* to, const void* bytes, std::size_t size) {
  static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

Error cannot_pack(const char* why) {
  return Error{Errc::unavailable,
               std::string("cannot pack the archive: ") + (why != nullptr ? why : "unknown error")};
}

}  // namespace

engine::Result<std::string> packed_texts(const std::vector<std::pair<std::string, std::string>>& texts) {
  std::string tar;
  const std::unique_ptr<archive, FreeTextWriter> writer(archive_write_new());
  archive_write_set_format_pax_restricted(writer.get());
  archive_write_add_filter_none(writer.get());
  archive_write_set_bytes_in_last_block(writer.get(), 1);
  if (archive_write_open(writer.get(), &tar, nullptr, &append_text, nullptr) != ARCHIVE_OK) {
    return cannot_pack(archive_error_string(writer.get()));
  }
  for (const auto& [name, content] : texts) {
    const std::unique_ptr<archive_entry, FreeTextEntry> entry(archive_entry_new());
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0600);
    archive_entry_set_mtime(entry.get(), 0, 0);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
    if (archive_write_header(writer.get(), entry.get()) != ARCHIVE_OK ||
        archive_write_data(writer.get(), content.data(), content.size()) !=
            static_cast<la_ssize_t>(content.size())) {
      return cannot_pack(archive_error_string(writer.get()));
    }
  }
  if (archive_write_close(writer.get()) != ARCHIVE_OK) {
    return cannot_pack(archive_error_string(writer.get()));
  }
  std::string packed(ZSTD_compressBound(tar.size()), '\0');
  const std::size_t size = ZSTD_compress(packed.data(), packed.size(), tar.data(), tar.size(), zstd_level);
  if (ZSTD_isError(size) != 0) {
    return cannot_pack(ZSTD_getErrorName(size));
  }
  packed.resize(size);
  return packed;
}

}  // namespace hpsearch::files

#include "hpsearch/io/archive/text_archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace hpsearch::files {
namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;

/// The contents, as other programs read them.
Texts unpacked(const std::string& packed) {
  Texts texts;
  archive* reader = archive_read_new();
  archive_read_support_format_tar(reader);
  archive_read_support_filter_zstd(reader);
  EXPECT_EQ(archive_read_open_memory(reader, packed.data(), packed.size()), ARCHIVE_OK);
  for (archive_entry* entry = nullptr; archive_read_next_header(reader, &entry) == ARCHIVE_OK;) {
    EXPECT_EQ(archive_entry_perm(entry), 0600U);
    std::string text(static_cast<std::size_t>(archive_entry_size(entry)), '\0');
    EXPECT_EQ(archive_read_data(reader, text.data(), text.size()), static_cast<la_ssize_t>(text.size()));
    texts.emplace_back(archive_entry_pathname(entry), text);
  }
  archive_read_free(reader);
  return texts;
}

TEST(TextArchive, HasTheTexts) {
  const Texts texts{{"a.txt", "one\n"}, {"logs/b.log", std::string(100'000, 'x')}, {"empty", ""}};
  const auto packed = packed_texts(texts);
  ASSERT_TRUE(packed);
  EXPECT_LT(packed->size(), 10'000U) << "it is compressed";
  EXPECT_EQ(unpacked(*packed), texts);
  EXPECT_EQ(*packed_texts(texts), *packed) << "the same texts, the same bytes";
}

TEST(TextArchive, MayBeEmpty) {
  const auto packed = packed_texts({});
  ASSERT_TRUE(packed);
  EXPECT_TRUE(unpacked(*packed).empty());
}

}  // namespace
}  // namespace hpsearch::files

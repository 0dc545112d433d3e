#include "hpsearch/io/archive/kept_log.hpp"

#include <gtest/gtest.h>
#include <zstd.h>

#include <random>
#include <string>
#include <vector>

namespace hpsearch::logs {
namespace {

using engine::Errc;

constexpr std::size_t header_size = 32;

/// Bytes that depend on their place and don't compress well.
std::string noise(std::size_t bytes, std::uint32_t seed = 7) {
  std::mt19937 chance(seed);
  std::string text(bytes, '\0');
  for (char& byte : text) {
    byte = static_cast<char>(chance() & 0xFFU);
  }
  return text;
}

ReadStream from(const std::string& stream) {
  return [&stream](std::uint64_t offset, std::uint64_t limit) { return stream.substr(offset, limit); };
}

std::string packed(const std::string& stream) {
  auto bytes = pack(bytes_to_keep(stream.size(), stream.size(), 0), from(stream));
  EXPECT_TRUE(bytes.has_value()) << bytes.error().message;
  return bytes ? *bytes : "";
}

/// Reads page by page, like a user's client.
std::string read_all(const std::string& kept, std::uint64_t page, std::uint64_t* left_out = nullptr) {
  std::string text;
  for (std::uint64_t at = 0;;) {
    const auto stretch = unpack(kept, at, page, false);
    if (!stretch) {
      ADD_FAILURE() << stretch.error().message;
      return text;
    }
    if (left_out != nullptr) {
      *left_out += stretch->offset - at;
    }
    text += stretch->bytes;
    at = stretch->offset + stretch->bytes.size();
    EXPECT_EQ(stretch->goes_on, at < stretch->size && !(left_out != nullptr && at == most_head_bytes)) << at;
    if (stretch->bytes.empty() || at >= stretch->size) {
      return text;
    }
  }
}

/// A frame with that content and a header with these numbers.
std::string made_up(std::uint64_t size, std::uint64_t head, std::uint64_t tail, const std::string& content,
                    int window_log = 0) {
  std::string text = packed("");
  text.resize(header_size);
  for (std::size_t i = 0; i < 8; ++i) {
    text[8 + i] = static_cast<char>(size >> (8 * i));
    text[16 + i] = static_cast<char>(head >> (8 * i));
    text[24 + i] = static_cast<char>(tail >> (8 * i));
  }
  std::string frame(ZSTD_compressBound(content.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  if (window_log > 0) {
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  }
  // Compressed in two calls, because with the whole content the window would be no larger than it.
  ZSTD_inBuffer in{content.data(), content.size(), 0};
  ZSTD_outBuffer out{frame.data(), frame.size(), 0};
  ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue);
  ZSTD_compressStream2(context, &out, &in, ZSTD_e_end);
  ZSTD_freeCCtx(context);
  return text + frame.substr(0, out.pos);
}

void expect_corrupt(const std::string& bytes, const std::string& what) {
  const auto checked = check(bytes);
  ASSERT_FALSE(checked.has_value()) << what;
  EXPECT_EQ(checked.error().code, Errc::corrupt) << what;
  EXPECT_FALSE(unpack(bytes, 0, most_kept_bytes, false).has_value()) << what;
}

TEST(BytesToKeep, AreAllUpToTheLimit) {
  EXPECT_EQ(bytes_to_keep(0, 0, 0), (KeptBytes{0, 0, 0}));
  EXPECT_EQ(bytes_to_keep(most_kept_bytes, most_kept_bytes, 0),
            (KeptBytes{most_kept_bytes, most_kept_bytes, most_kept_bytes}));
}

TEST(BytesToKeep, AreHeadAndTailBeyondTheLimit) {
  constexpr std::uint64_t size = most_kept_bytes + 1;
  EXPECT_EQ(bytes_to_keep(size, size, 0), (KeptBytes{size, most_head_bytes, most_head_bytes + 1}));
  constexpr std::uint64_t large = std::uint64_t{100} << 20U;
  const KeptBytes kept = bytes_to_keep(large, large, 0);
  EXPECT_EQ(kept, (KeptBytes{large, most_head_bytes, large - most_tail_bytes}));
  EXPECT_EQ(kept.count(), most_kept_bytes);
}

TEST(BytesToKeep, ExcludeMissingBytes) {
  EXPECT_EQ(bytes_to_keep(1000, 100, 900), (KeptBytes{1000, 100, 900}));
  EXPECT_EQ(bytes_to_keep(1000, 0, 900), (KeptBytes{1000, 0, 900}));
  EXPECT_EQ(bytes_to_keep(1000, 100, 1000), (KeptBytes{1000, 100, 1000}));
}

TEST(KeptLog, IsUnpackedUnchanged) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{200'000}, most_kept_bytes}) {
    const std::string stream = noise(size);
    const std::string kept = packed(stream);
    EXPECT_LE(kept.size(), most_packed_bytes);
    EXPECT_TRUE(check(kept).has_value());
    EXPECT_EQ(read_all(kept, 100'000), stream) << size;
  }
}

TEST(KeptLog, LeavesOutTheMiddle) {
  const std::string stream = noise(most_kept_bytes + 1);
  std::uint64_t left_out = 0;
  const std::string text = read_all(packed(stream), 128 * 1024, &left_out);
  EXPECT_EQ(left_out, 1U);
  EXPECT_EQ(text, stream.substr(0, most_head_bytes) + stream.substr(most_head_bytes + 1));
}

TEST(KeptLog, ReadsAnyStretch) {
  const std::string stream = noise(most_kept_bytes + 5000);
  const std::string kept = packed(stream);
  const std::uint64_t tail = stream.size() - most_tail_bytes;
  const auto at = [&kept](std::uint64_t offset, std::uint64_t limit, bool from_end = false) {
    const auto stretch = unpack(kept, offset, limit, from_end);
    EXPECT_TRUE(stretch.has_value());
    return stretch ? *stretch : Stretch{};
  };
  EXPECT_EQ(at(10, 20).bytes, stream.substr(10, 20));
  EXPECT_EQ(at(most_head_bytes - 5, 20).bytes, stream.substr(most_head_bytes - 5, 5))
      << "not from both sides";
  EXPECT_FALSE(at(most_head_bytes - 5, 20).goes_on);
  EXPECT_EQ(at(most_head_bytes, 20).offset, tail);
  EXPECT_EQ(at(tail - 1, 20).bytes, stream.substr(tail, 20));
  EXPECT_EQ(at(tail + 7, 20).bytes, stream.substr(tail + 7, 20));
  EXPECT_EQ(at(0, 30, true).bytes, stream.substr(stream.size() - 30));
  EXPECT_EQ(at(stream.size() + 9, 30).offset, stream.size());
  EXPECT_EQ(at(stream.size() + 9, 30).bytes, "");
  EXPECT_EQ(at(3, 0).bytes, "");
}

TEST(KeptLog, StreamThatEndsEarlyIsAnError) {
  const std::string stream = noise(1000);
  const auto bytes = pack(bytes_to_keep(1001, 1001, 0), from(stream));
  ASSERT_FALSE(bytes.has_value());
  EXPECT_NE(bytes.error().message.find("from byte 1000"), std::string::npos) << bytes.error().message;
}

TEST(KeptLog, ZstdCommandPrintsIt) {
  const std::string stream = noise(70'000);
  const std::string kept = packed(stream);
  std::string text(stream.size() + 10, '\0');
  ASSERT_EQ(ZSTD_decompress(text.data(), text.size(), kept.data(), kept.size()), stream.size());
  EXPECT_EQ(text.substr(0, stream.size()), stream);
}

TEST(HostileLog, WrongNumbersInTheHeaderAreRefused) {
  constexpr std::uint64_t most = ~std::uint64_t{0};
  expect_corrupt(made_up(10, 11, 10, "0123456789"), "a head past the end");
  expect_corrupt(made_up(10, 5, 4, "0123456789"), "a tail before the head's end");
  expect_corrupt(made_up(most_kept_bytes + 1, most_kept_bytes + 1, most_kept_bytes + 1, ""),
                 "a head too long");
  expect_corrupt(made_up(most, most_head_bytes, most_head_bytes, ""), "a tail too long");
  expect_corrupt(made_up(most, most, most, ""), "everything");
  EXPECT_TRUE(check(made_up(most, 4, most - 6, "0123456789")).has_value()) << "a very long stream is fine";
}

TEST(HostileLog, WrongLengthOfTheContentIsRefused) {
  expect_corrupt(made_up(9, 9, 9, "0123456789"), "more");
  expect_corrupt(made_up(11, 11, 11, "0123456789"), "less");
  expect_corrupt(made_up(10, 10, 10, std::string(100'000'000, 'x')), "a bomb");
}

TEST(HostileLog, LargeWindowIsRefused) {
  const std::string content = noise(1'000'000);
  EXPECT_TRUE(check(made_up(content.size(), content.size(), content.size(), content, 22)).has_value());
  expect_corrupt(made_up(content.size(), content.size(), content.size(), content, 27), "128 MiB of window");
}

TEST(HostileLog, TruncatedExtendedOrChangedBytesAreRefused) {
  const std::string kept = packed(noise(50'000));
  for (std::size_t length = 0; length < kept.size(); length += length < 64 ? 1 : 997) {
    expect_corrupt(kept.substr(0, length), "cut at " + std::to_string(length));
  }
  EXPECT_FALSE(check(kept + "x").has_value());
  EXPECT_FALSE(check(kept + kept).has_value());
  for (std::size_t at = header_size; at < kept.size(); at += 501) {
    std::string changed = kept;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    EXPECT_FALSE(check(changed).has_value()) << "byte " << at << " was changed";
  }
  EXPECT_FALSE(check(std::string(most_packed_bytes + 1, '\0')).has_value());
}

}  // namespace
}  // namespace hpsearch::logs

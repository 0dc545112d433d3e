#include "hpsearch/io/archive/kept_log.hpp"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace hpsearch::logs {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

namespace {

// A skippable frame of zstd before the frame with the bytes, so that `zstd -dc` shows them: its magic number,
// its length, and three numbers of 8 bytes, all little-endian.
constexpr std::uint32_t header_magic = 0x184D2A5BU;
constexpr std::size_t header_numbers = 3;
constexpr std::size_t header_content = header_numbers * 8;
constexpr std::size_t header_size = 8 + header_content;
constexpr std::size_t slice = 128 * 1024;
constexpr int level = 3;
// The window of the decompressor: enough for all that is kept. A foreign frame can't demand more.
constexpr int most_window_log = 22;
static_assert(most_kept_bytes <= std::uint64_t{1} << most_window_log);

void put(std::string& to, std::uint64_t number, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    to.push_back(static_cast<char>((number >> (8 * i)) & 0xFFU));
  }
}

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t length) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < length; ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return number;
}

Error corrupt(const std::string& what) {
  return Error{Errc::corrupt, "the log is damaged: " + what};
}

struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
};
struct FreeDecompressor {
  void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
};

/// Builds one compressed frame.
class Compressor {
 public:
  explicit Compressor(std::uint64_t bytes) : context_(ZSTD_createCCtx()), room_(ZSTD_CStreamOutSize()) {
    if (context_) {
      good(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level));
      good(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1));
      good(ZSTD_CCtx_setPledgedSrcSize(context_.get(), bytes));
    } else {
      problem_ = "there is no memory";
    }
  }

  void feed(std::string_view bytes, bool last, std::string& out) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (bool more = true; more && problem_.empty();) {
      ZSTD_outBuffer room{room_.data(), room_.size(), 0};
      const std::size_t left =
          ZSTD_compressStream2(context_.get(), &room, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      if (good(left)) {
        out.append(room_.data(), room.pos);
        more = last ? left > 0 : in.pos < in.size;
      }
    }
  }

  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

 private:
  bool good(std::size_t answer) {
    if (ZSTD_isError(answer) != 0) {
      problem_ = ZSTD_getErrorName(answer);
    }
    return problem_.empty();
  }

  std::unique_ptr<ZSTD_CCtx, FreeCompressor> context_;
  std::vector<char> room_;
  std::string problem_;
};

/// Passes the frame's bytes to `take` in slices, until it returns false.
Status decompress(std::string_view frame, std::uint64_t expected,
                  const std::function<bool(std::string_view)>& take) {
  const std::unique_ptr<ZSTD_DCtx, FreeDecompressor> context(ZSTD_createDCtx());
  if (!context) {
    return Error{Errc::unavailable, "there is no memory to read the log"};
  }
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, most_window_log);
  std::vector<char> room(slice);
  ZSTD_inBuffer in{frame.data(), frame.size(), 0};
  std::uint64_t made = 0;
  for (;;) {
    ZSTD_outBuffer out{room.data(), room.size(), 0};
    const std::size_t left = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(left) != 0) {
      return corrupt(ZSTD_getErrorName(left));
    }
    made += out.pos;
    if (made > expected) {
      return corrupt("it holds more than it says");
    }
    if (!take({room.data(), out.pos})) {
      return Done{};
    }
    if (left == 0) {
      break;
    }
    if (in.pos == in.size && out.pos < out.size) {
      return corrupt("its end is missing");
    }
  }
  if (made != expected) {
    return corrupt("it holds less than it says");
  }
  return in.pos == in.size ? Status(Done{}) : corrupt("something follows its end");
}

}  // namespace

KeptBytes bytes_to_keep(std::uint64_t size, std::uint64_t front, std::uint64_t back) noexcept {
  if (front >= size && size <= most_kept_bytes) {
    return {size, size, size};
  }
  KeptBytes kept{size, std::min({front, size, most_head_bytes}), 0};
  kept.tail = std::max({std::min(back, size), size - std::min(size, most_tail_bytes), kept.head});
  return kept;
}

Result<std::string> pack(const KeptBytes& kept, const ReadStream& read) {
  std::string packed;
  put(packed, header_magic, 4);
  put(packed, header_content, 4);
  for (const std::uint64_t number : {kept.size, kept.head, kept.tail}) {
    put(packed, number, 8);
  }
  Compressor compressor(kept.count());
  const std::array<std::pair<std::uint64_t, std::uint64_t>, 2> stretches{
      {{0, kept.head}, {kept.tail, kept.size}}};
  for (const auto& [begin, end] : stretches) {
    for (std::uint64_t at = begin; at < end && compressor.problem().empty();) {
      const std::string bytes = read(at, std::min<std::uint64_t>(slice, end - at));
      if (bytes.empty()) {
        return Error{Errc::unavailable, "the log could not be read from byte " + std::to_string(at) + " on"};
      }
      compressor.feed(bytes, false, packed);
      at += bytes.size();
    }
  }
  compressor.feed({}, true, packed);
  if (!compressor.problem().empty()) {
    return Error{Errc::unavailable, "the log could not be compressed: " + compressor.problem()};
  }
  return packed;
}

Result<KeptBytes> kept_bytes_of(std::string_view packed) {
  if (packed.size() < header_size || packed.size() > most_packed_bytes ||
      number_at(packed, 0, 4) != header_magic || number_at(packed, 4, 4) != header_content) {
    return corrupt("it does not begin as a log that was kept");
  }
  const KeptBytes kept{number_at(packed, 8, 8), number_at(packed, 16, 8), number_at(packed, 24, 8)};
  if (kept.head > kept.tail || kept.tail > kept.size || kept.head > most_kept_bytes ||
      kept.size - kept.tail > most_kept_bytes - kept.head) {
    return corrupt("it says to hold what none may");
  }
  return kept;
}

Status check(std::string_view packed) {
  const Result<KeptBytes> kept = kept_bytes_of(packed);
  return kept ? decompress(packed.substr(header_size), kept->count(), [](std::string_view) { return true; })
              : Status(kept.error());
}

Result<Stretch> unpack(std::string_view packed, std::uint64_t offset, std::uint64_t limit, bool from_end) {
  const Result<KeptBytes> kept = kept_bytes_of(packed);
  if (!kept) {
    return kept.error();
  }
  Stretch stretch;
  stretch.size = kept->size;
  stretch.offset = from_end ? kept->size - std::min(limit, kept->size) : std::min(offset, kept->size);
  if (stretch.offset >= kept->head) {
    stretch.offset = std::max(stretch.offset, kept->tail);
  }
  const bool in_head = stretch.offset < kept->head;
  // If nothing is left out, head and tail are one.
  const std::uint64_t end = in_head && kept->head < kept->tail ? kept->head : kept->size;
  const std::uint64_t wanted = std::min(limit, end - stretch.offset);
  stretch.goes_on = stretch.offset + wanted < end;
  std::uint64_t skip = in_head ? stretch.offset : kept->head + (stretch.offset - kept->tail);
  const Status read = decompress(packed.substr(header_size), kept->count(),
                                 [&stretch, &skip, wanted](std::string_view bytes) {
                                   const std::uint64_t skipped = std::min<std::uint64_t>(skip, bytes.size());
                                   skip -= skipped;
                                   bytes.remove_prefix(skipped);
                                   stretch.bytes.append(bytes.substr(0, wanted - stretch.bytes.size()));
                                   // The last stretch is read to the end of the frame, because only there
                                   // damage is detected for sure.
                                   return stretch.bytes.size() < wanted || !stretch.goes_on;
                                 });
  if (!read) {
    return read.error();
  }
  return stretch;
}

}  // namespace hpsearch::logs

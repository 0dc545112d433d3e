#include "daemon/store/tools/write_ahead_log.hpp"

#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"

// The write-ahead log of the store's database. A log whose checksums are all good is fine, and stays so when
// its last commit is cut off anywhere. If the first byte is odd, the rest is a log as it lies on the disk;
// else salts and checksums are made good here, and then the log is cut as the two bytes after it say.

namespace hpsearch::fuzz {
namespace {

constexpr std::size_t page_bytes = 512;
constexpr std::size_t frame_bytes = 24 + page_bytes;
constexpr std::size_t header_bytes = 32;

std::uint32_t word_at(const std::string& log, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    word = word << 8U | static_cast<unsigned char>(log[at + i]);
  }
  return word;
}

void put_word(std::string& log, std::size_t at, std::uint32_t word) {
  for (std::size_t i = 0; i < 4; ++i) {
    log[at + i] = static_cast<char>(word >> (24 - 8 * i) & 0xFFU);
  }
}

/// Section 4.2 of SQLite's file format, over words in big-endian order.
struct Sums {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  void over(const std::string& log, std::size_t at, std::size_t bytes) {
    for (std::size_t end = at + bytes; at < end; at += 8) {
      first += word_at(log, at) + second;
      second += word_at(log, at + 4) + first;
    }
  }
};

/// As SQLite would have written these pages: whole frames behind a header, all of one life of the log.
std::string sealed(std::string_view pages) {
  std::string log(header_bytes, '\0');
  put_word(log, 0, 0x377f0683);
  put_word(log, 4, 3'007'000);
  put_word(log, 8, page_bytes);
  put_word(log, 12, 1);
  put_word(log, 16, 0x1234);
  put_word(log, 20, 0x5678);
  Sums sums;
  sums.over(log, 0, 24);
  put_word(log, 24, sums.first);
  put_word(log, 28, sums.second);
  for (; pages.size() >= page_bytes + 8; pages.remove_prefix(page_bytes + 8)) {
    const std::size_t frame = log.size();
    log += pages.substr(0, 8);  // The number of the page, and the size of the database if it ends a commit.
    log += log.substr(16, 8);
    log.append(8, '\0');
    log += pages.substr(8, page_bytes);
    sums.over(log, frame, 8);
    sums.over(log, frame + 24, page_bytes);
    put_word(log, frame + 16, sums.first);
    put_word(log, frame + 20, sums.second);
  }
  return log;
}

void run_write_ahead_log(std::string_view bytes) {
  Parts parts(bytes);
  if (parts.byte() % 2 == 1) {
    const auto checked = daemon::check_write_ahead_log(bytes_of(parts.rest()));
    HPSEARCH_CHECK(checked || !checked.error().message.empty(), "an error has a reason");
    return;
  }
  const std::size_t cut = parts.byte() << 8U | parts.byte();
  const std::string log = sealed(parts.rest());
  HPSEARCH_CHECK(daemon::check_write_ahead_log(bytes_of(log)).has_value(),
                 "a log with good checksums is whole");
  std::size_t last_commit = header_bytes;
  for (std::size_t frame = header_bytes; frame + 2 * frame_bytes <= log.size(); frame += frame_bytes) {
    last_commit = word_at(log, frame + 4) != 0 ? frame + frame_bytes : last_commit;
  }
  const std::size_t kept = last_commit + cut % (log.size() - last_commit + 1);
  HPSEARCH_CHECK(daemon::check_write_ahead_log(bytes_of(std::string_view(log).substr(0, kept))).has_value(),
                 "a last commit that is not whole was never promised");
}

Seeds write_ahead_log_seeds() {
  std::string pages;
  for (char page = 1; page <= 4; ++page) {
    pages +=
        std::string{'\0', '\0', '\0', page, '\0', '\0', '\0', static_cast<char>(page % 2 == 0 ? page : 0)};
    pages += std::string(page_bytes, page);
  }
  return {'\2' + std::string{'\0', '\0'} + pages, '\2' + std::string{'\1', '\7'} + pages,
          '\1' + sealed(pages)};
}

const Registered write_ahead_log_target({"write_ahead_log", run_write_ahead_log, write_ahead_log_seeds});

}  // namespace
}  // namespace hpsearch::fuzz

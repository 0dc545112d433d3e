#include <algorithm>

#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/io/archive/context_archive.hpp"
#include "hpsearch/io/archive/ignore_rules.hpp"
#include "hpsearch/io/files/directory.hpp"
#include "scratch.hpp"

// A packed context. Nothing is unpacked outside of its directory; what was unpacked and is packed again holds
// the same.

namespace hpsearch::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t block = 512;
constexpr std::size_t size_at = 124;
constexpr std::size_t checksum_at = 148;
constexpr std::size_t type_at = 156;
constexpr std::size_t link_at = 157;
constexpr std::size_t magic_at = 257;

std::string octal(std::uint64_t number, std::size_t digits) {
  std::string text(digits, '0');
  for (std::size_t at = digits; at > 0; number /= 8) {
    text[--at] = static_cast<char>('0' + number % 8);
  }
  return text;
}

/// Walks from header to header as a reader does.
std::string with_checksums(std::string archive) {
  for (std::size_t at = 0; at + block <= archive.size();) {
    archive.replace(at + checksum_at, 8, 8, ' ');
    std::uint64_t sum = 0;
    for (const char c : archive.substr(at, block)) {
      sum += static_cast<unsigned char>(c);
    }
    archive.replace(at + checksum_at, 7, octal(sum, 6) + '\0');
    std::uint64_t size = 0;
    for (std::size_t digit = at + size_at; digit < at + size_at + 11; ++digit) {
      size = size * 8 + static_cast<std::uint64_t>(archive[digit] & 7);
    }
    at += block + (std::min<std::uint64_t>(size, archive.size()) + block - 1) / block * block;
  }
  return archive;
}

/// One entry: a file of one byte, or what `type` says.
std::string entry(const std::string& name, char type, const std::string& target = "") {
  std::string header(block, '\0');
  header.replace(0, name.size(), name);
  header.replace(100, 7, "0000644");
  header.replace(size_at, 11, octal(type == '0' ? 1 : 0, 11));
  header[type_at] = type;
  header.replace(link_at, target.size(), target);
  header.replace(magic_at, 8, "ustar  \0", 8);
  return type == '0' ? header + 'x' + std::string(block - 1, '\0') : header;
}

void run_tar(std::string_view input) {
  Parts parts(input);
  const bool as_it_came = parts.byte() % 2 == 1;
  const std::string archive =
      as_it_came ? std::string(parts.rest()) : with_checksums(std::string(parts.rest()));
  const std::string_view bytes = archive;
  const auto listed = context::contents_of(bytes);
  if (!listed) {
    HPSEARCH_CHECK(!listed.error().message.empty(), "an error has a reason");
    return;
  }
  std::uint64_t total = 0;
  for (const context::ContextFile& file : *listed) {
    total += file.bytes;
    HPSEARCH_CHECK(!file.path.starts_with('/') && ("/" + file.path + "/").find("/../") == std::string::npos,
                   "names stay inside");
  }
  HPSEARCH_CHECK(total <= bytes.size(), "files are not larger than their archive");
  const Scratch scratch;
  const fs::path inside = scratch.path() / "inside";
  fs::create_directory(inside);
  const auto directory = files::Directory::open(inside);
  HPSEARCH_CHECK(directory.has_value(), "what was just made can be opened");
  const auto unpacked = context::unpack(bytes, *directory);
  HPSEARCH_CHECK(std::distance(fs::directory_iterator(scratch.path()), fs::directory_iterator()) == 1,
                 "nothing is written outside");
  if (!unpacked) {
    return;  // A name that the file system does not take, or an archive that is cut off within a file.
  }
  const auto packed = context::pack(inside, *listed);
  HPSEARCH_CHECK(packed.has_value(), "what was unpacked can be packed");
  const auto again = context::contents_of(*packed);
  HPSEARCH_CHECK(again && again->size() == listed->size(), "and holds the same");
  for (std::size_t i = 0; i < listed->size(); ++i) {
    const context::ContextFile& a = (*listed)[i];
    const context::ContextFile& b = (*again)[i];
    HPSEARCH_CHECK(a.path == b.path && a.kind == b.kind && a.bytes == b.bytes && a.target == b.target &&
                       a.executable == b.executable,
                   "and holds the same");
  }
}

Seeds tar_seeds() {
  const Scratch scratch;
  scratch.write("train.py", "print(1)\n");
  scratch.write("data/x.txt", "x");
  fs::create_symlink("../train.py", scratch.path() / "data" / "link");
  const auto files = context::context_files(scratch.path());
  HPSEARCH_CHECK(files.has_value(), "the folder can be listed");
  const auto packed = context::pack(scratch.path(), files->files);
  HPSEARCH_CHECK(packed.has_value(), "the folder can be packed");
  Seeds all{'\1' + *packed, '\2' + *packed};
  // What must be refused.
  const std::string directory = entry("d/", '5');
  for (const std::string& hostile :
       {entry("../x", '0'), entry("../", '5') + entry("../x", '0'), entry("/x", '0'),
        directory + entry("d/../../x", '0'), entry("a/x", '0'), entry("x", '1', "y"), entry("x", '2', "../y"),
        entry("x", '2', "/etc") + entry("x/y", '0'), entry("x", '0') + entry("x", '0'), entry("x", '3'),
        directory + entry("d/x", '2', "../..")}) {
    all.push_back('\2' + hostile);
  }
  return all;
}

const Registered tar_target({"tar", run_tar, tar_seeds, 300});

}  // namespace
}  // namespace hpsearch::fuzz

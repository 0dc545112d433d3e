#include "fuzz/target.hpp"
#include "hpsearch/context/context_archive.hpp"
#include "hpsearch/context/ignore_rules.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "scratch.hpp"

// A packed context. Nothing is unpacked outside of its directory; what was unpacked and is packed again holds
// the same.

namespace hpsearch::fuzz {
namespace {

namespace fs = std::filesystem;

void run_tar(std::string_view bytes) {
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
  const auto unpacked = context::unpack(bytes, inside);
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
  const auto packed = context::pack(scratch.path(), *files);
  HPSEARCH_CHECK(packed.has_value(), "the folder can be packed");
  return {*packed};
}

const Registered tar_target({"tar", run_tar, tar_seeds, 300});

}  // namespace
}  // namespace hpsearch::fuzz

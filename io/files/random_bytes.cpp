#include "hpsearch/io/files/random_bytes.hpp"

#include <sys/random.h>

#include <cerrno>
#include <vector>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/digits.hpp"

namespace hpsearch::files {

void fill_randomly(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    HPSEARCH_CHECK(got > 0 || errno == EINTR, "the kernel always has random bytes");
    bytes = bytes.subspan(got > 0 ? static_cast<std::size_t>(got) : 0);
  }
}

std::string random_hex(std::size_t bytes) {
  std::vector<std::byte> random(bytes);
  fill_randomly(random);
  return engine::hex_of(random);
}

std::uint64_t random_number() {
  std::uint64_t number = 0;
  fill_randomly(std::as_writable_bytes(std::span(&number, 1)));
  return number;
}

}  // namespace hpsearch::files

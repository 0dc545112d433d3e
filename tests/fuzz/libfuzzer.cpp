#include <cstddef>
#include <cstdint>

#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"

// libFuzzer's end of the one target that is linked in.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<hpsearch::fuzz::Target> linked = hpsearch::fuzz::targets();
  HPSEARCH_CHECK(linked.size() == 1, "one executable fuzzes one target");
  linked.front().run({reinterpret_cast<const char*>(data), size});
  return 0;
}

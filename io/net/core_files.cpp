#include "hpsearch/io/net/core_files.hpp"

#include <sys/resource.h>

namespace hpsearch::net {

void forbid_core_files() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_CORE, &limit) == 0) {
    limit.rlim_cur = 0;
    ::setrlimit(RLIMIT_CORE, &limit);
  }
}

}  // namespace hpsearch::net

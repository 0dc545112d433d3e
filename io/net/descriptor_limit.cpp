#include "hpsearch/io/net/descriptor_limit.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <string>

#include "hpsearch/io/net/log.hpp"

namespace hpsearch::net {

void raise_descriptor_limit(std::uint64_t most) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return;
  }
  limit.rlim_cur = std::max<rlim_t>(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, most));
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < enough_descriptors) {
    log(Level::warning,
        "only " + std::to_string(limit.rlim_cur) +
            " files may be open here at once, and each connection and program costs some; allow " +
            std::to_string(enough_descriptors) + " (LimitNOFILE of a unit, ulimit -Hn)");
  }
}

}  // namespace hpsearch::net

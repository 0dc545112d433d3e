#include "hpsearch/jobs/fields/preload.hpp"

namespace hpsearch::jobs {

bool runs_function(const std::vector<std::string>& argv) noexcept {
  return argv.size() == 3 && argv[0].starts_with('/') && argv[1] == "-m" &&
         argv[2] == "hpsearch.run_function";
}

}  // namespace hpsearch::jobs

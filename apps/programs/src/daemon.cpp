#include "daemon/process/daemon.hpp"

#include <variant>

#include "daemon/options/options.hpp"
#include "hpsearch/programs/programs.hpp"

namespace hpsearch::programs {

int run_daemon(int argc, char** argv, engine::SearcherRegistry registry) {
  const auto read = daemon::read_options(argc, argv);
  const auto* options = std::get_if<daemon::Options>(&read);
  return static_cast<int>(options == nullptr ? std::get<daemon::Exit>(read)
                                             : daemon::run_daemon(*options, registry));
}

}  // namespace hpsearch::programs

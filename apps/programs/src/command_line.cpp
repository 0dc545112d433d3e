#include "cli/verbs/command_line.hpp"

#include "cli/experiment/known_searchers.hpp"
#include "hpsearch/programs/programs.hpp"

namespace hpsearch::programs {

int run_command_line(int argc, char** argv, engine::SearcherRegistry registry) {
  cli::set_known_searchers(registry);
  return cli::run_command_line(argc, argv);
}

}  // namespace hpsearch::programs

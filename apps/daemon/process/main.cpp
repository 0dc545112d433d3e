#include <variant>

#include "daemon/options/options.hpp"
#include "daemon/process/daemon.hpp"
#include "hpsearch/searchers/registry.hpp"

int main(int argc, char** argv) {
  using namespace hpsearch::daemon;
  const auto read = read_options(argc, argv);
  const Options* options = std::get_if<Options>(&read);
  return static_cast<int>(options == nullptr ? std::get<Exit>(read)
                                             : run_daemon(*options, hpsearch::searchers::registry()));
}

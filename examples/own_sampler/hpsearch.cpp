// hpsearch that knows one searcher more.
#include <hpsearch/programs/programs.hpp>

#include "registry.hpp"

int main(int argc, char** argv) {
  return hpsearch::programs::run_command_line(argc, argv, registry());
}

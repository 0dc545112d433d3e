// hpsearchd that knows one searcher more.
#include <hpsearch/programs/programs.hpp>

#include "registry.hpp"

int main(int argc, char** argv) {
  return hpsearch::programs::run_daemon(argc, argv, registry());
}

#include "hpsearch/workers/determined/harness_program.hpp"

int main(int argc, char** /*argv*/) {
  return hpsearch::workers::run_harness_program(argc);
}

#include "hpsearch/workers/shell/worker_program.hpp"

int main(int argc, char** argv) {
  return hpsearch::workers::run_worker_program(argc, argv);
}

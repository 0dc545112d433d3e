#include "cli/verbs/command_line.hpp"

int main(int argc, char** argv) {
  return hpsearch::cli::run_command_line(argc, argv);
}

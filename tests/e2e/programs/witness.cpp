// Writes down everything that a program finds when it is started: what the worker gave it, byte for byte.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  const fs::path to = fs::path(std::getenv("WITNESS_DIR")) / "cpp";
  fs::create_directory(to);
  std::ofstream environment(to / "environment", std::ios::binary);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    environment << *variable << '\0';
  }
  std::ofstream arguments(to / "arguments", std::ios::binary);
  for (int i = 1; i < argc; ++i) {
    arguments << argv[i] << '\0';
  }
  std::ofstream(to / "directory", std::ios::binary) << fs::current_path().string() << '\0';
  const fs::path config = std::getenv("PAI_CONFIG_DIR");
  fs::copy(config / "hyperparameters.json", to);
  fs::copy(config / "training_job.json", to);
  fs::copy(std::getenv("HPSEARCH_PARAMS_FILE"), to / "params.json");
  std::cout << "HPSEARCH {\"step\": 1, \"loss\": 0.5}" << std::endl;
}

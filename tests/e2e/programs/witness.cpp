// Writes down everything that a program finds when it is started: what the worker gave it, byte for byte.
// Then it waits until as many programs as WITNESS_COUNT says have done so, as those do that work together.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>

namespace fs = std::filesystem;

namespace {

long accounts(const fs::path& everybody) {
  return std::count_if(
      fs::directory_iterator(everybody), fs::directory_iterator(), [](const fs::directory_entry& one) {
        return one.path().filename().string().rfind("cpp.", 0) == 0 && fs::exists(one.path() / "done");
      });
}

}  // namespace

int main(int argc, char** argv) {
  const fs::path everybody = std::getenv("WITNESS_DIR");
  const fs::path to = everybody / ("cpp." + std::to_string(::getpid()));
  fs::create_directory(to);
  {
    std::ofstream environment(to / "environment", std::ios::binary);
    for (char** variable = environ; *variable != nullptr; ++variable) {
      environment << *variable << '\0';
    }
    std::ofstream arguments(to / "arguments", std::ios::binary);
    for (int i = 1; i < argc; ++i) {
      arguments << argv[i] << '\0';
    }
    std::ofstream(to / "directory", std::ios::binary) << fs::current_path().string() << '\0';
  }
  const fs::path config = std::getenv("PAI_CONFIG_DIR");
  fs::copy(config / "hyperparameters.json", to);
  fs::copy(config / "training_job.json", to);
  fs::copy(std::getenv("HPSEARCH_PARAMS_FILE"), to / "params.json");
  if (const char* hostfile = std::getenv("HPSEARCH_HOSTFILE")) {
    fs::copy(hostfile, to / "hostfile");
  }
  std::ofstream(to / "done").close();
  const char* count = std::getenv("WITNESS_COUNT");
  while (accounts(everybody) < (count == nullptr ? 1 : std::atol(count))) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::cout << "HPSEARCH {\"step\": 1, \"loss\": 0.5}" << std::endl;
}

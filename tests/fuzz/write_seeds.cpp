#include <cstdio>
#include <filesystem>
#include <string>

#include "fuzz/target.hpp"
#include "scratch.hpp"

// write_seeds FOLDER: the seeds of every target, each in a file FOLDER/<target>/<number>. libFuzzer starts
// from them.

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: write_seeds FOLDER\n", stderr);
    return 2;
  }
  for (const hpsearch::fuzz::Target& target : hpsearch::fuzz::targets()) {
    const auto folder = std::filesystem::path(argv[1]) / target.name;
    std::filesystem::remove_all(folder);
    std::size_t number = 0;
    for (const std::string& seed : target.seeds()) {
      hpsearch::write_text(folder / std::to_string(++number), seed);
    }
  }
  return 0;
}

#pragma once

#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace hpsearch {

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A directory of its own for one test; gone when the test is over.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hpsearch-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      std::abort();
    }
    path_ = pattern;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }

  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    write_text(path_ / name, text);
    return path(name);
  }
  [[nodiscard]] std::string read(const std::string& name) const { return text_of(path_ / name); }

 private:
  std::filesystem::path path_;
};

/// A directory on another file system than Scratch's, for one test: /dev/shm is memory everywhere.
class OtherFileSystem {
 public:
  OtherFileSystem() {
    std::string pattern = "/dev/shm/hpsearch-test-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) {
      std::abort();
    }
    path_ = pattern;
  }
  OtherFileSystem(const OtherFileSystem&) = delete;
  OtherFileSystem& operator=(const OtherFileSystem&) = delete;
  ~OtherFileSystem() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// How many times as long random tests take as they usually do: HPSEARCH_TEST_EFFORT, 1 unless it says more.
inline int test_effort() {
  const char* text = std::getenv("HPSEARCH_TEST_EFFORT");
  const long effort = text == nullptr ? 1 : std::strtol(text, nullptr, 10);
  return effort < 1 ? 1 : static_cast<int>(effort > 1000 ? 1000 : effort);
}

/// The seed of a random test: `usual`, unless HPSEARCH_TEST_SEED says another.
inline unsigned long long test_seed(unsigned long long usual) {
  const char* text = std::getenv("HPSEARCH_TEST_SEED");
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

}  // namespace hpsearch

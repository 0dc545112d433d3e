#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "scratch.hpp"

namespace hpsearch::workers::test {

struct Ran {
  int status = -1;  // In the form of waitpid().
  std::string printed;
};

inline std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) {
    all.push_back(text.data());
  }
  all.push_back(nullptr);
  return all;
}

/// Runs a program in `directory`, which also gets its output and, in `complaints`, its errors.
inline Ran run_program(std::vector<std::string> argv, const std::map<std::string, std::string>& variables,
                       const std::filesystem::path& directory) {
  std::vector<std::string> environment;
  for (const auto& [name, value] : variables) {
    environment.push_back(name + "=" + value);
  }
  const std::filesystem::path out = directory / "printed";
  const std::filesystem::path err = directory / "complaints";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  Ran ran;
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0].c_str(), &actions, nullptr, pointers(argv).data(),
                                 pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  EXPECT_EQ(error, 0) << argv[0];
  if (error == 0) {
    ::waitpid(child, &ran.status, 0);
  }
  ran.printed = text_of(out);
  return ran;
}

}  // namespace hpsearch::workers::test

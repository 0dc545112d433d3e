#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "scratch.hpp"

namespace hpsearch::workers::test {

/// Every entry of a tree with its content, or its link target.
inline std::map<std::string, std::string> content_of(const std::filesystem::path& tree) {
  std::map<std::string, std::string> content;
  for (const std::filesystem::directory_entry& entry : std::filesystem::recursive_directory_iterator(tree)) {
    content[entry.path().string()] = entry.is_symlink()
                                         ? "-> " + std::filesystem::read_symlink(entry).string()
                                     : entry.is_directory() ? "/"
                                                            : text_of(entry.path());
  }
  return content;
}

/// A tree with files, links and an empty directory, some named like an attempt's own files.
inline void lay_out_tree(const std::filesystem::path& tree) {
  write_text(tree / "deep/weights", "a month of work");
  write_text(tree / "notes", "mine");
  write_text(tree / "checkpoints/model", "of another search");
  write_text(tree / "output/checkpoints/model", "of a third");
  write_text(tree / "usercode/train.py", "of a fourth");
  std::filesystem::create_directory(tree / "empty");
  std::filesystem::create_symlink("deep/weights", tree / "link");
  std::filesystem::create_symlink("nowhere", tree / "dangling");
}

}  // namespace hpsearch::workers::test

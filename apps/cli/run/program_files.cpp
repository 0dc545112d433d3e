#include "cli/run/program_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>

#include "cli/render/text.hpp"
#include "hpsearch/io/files/sha256.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

constexpr std::uint64_t most_file_bytes = 16'000'000;
constexpr std::size_t looked_at = 4096;

constexpr std::array<std::string_view, 32> endings = {
    ".py", ".pyx", ".pxd", ".ipynb", ".sh",   ".bash", ".zsh", ".r",    ".jl",  ".lua", ".js",
    ".ts", ".rb",  ".pl",  ".java",  ".kt",   ".go",   ".rs",  ".m",    ".c",   ".cc",  ".cpp",
    ".cu", ".h",   ".hpp", ".cuh",   ".toml", ".ini",  ".cfg", ".yaml", ".yml", ".gin"};

bool begins_line(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    if (at == 0 || text[at - 1] == '\n') {
      return true;
    }
  }
  return false;
}

/// The words of the entrypoint that are plain.
std::set<std::string> words_of_entrypoint(const Value& tree) {
  std::set<std::string> words;
  const auto take = [&words](std::string_view text) {
    while (!text.empty()) {
      const std::size_t begin = text.find_first_not_of(" \t\n\"'");
      if (begin == std::string_view::npos) {
        return;
      }
      const std::size_t end = std::min(text.find_first_of(" \t\n\"'", begin), text.size());
      std::string word(text.substr(begin, end - begin));
      words.insert(word.starts_with("./") ? word.substr(2) : std::move(word));
      text.remove_prefix(end);
    }
  };
  const Value* entrypoint = tree.at_path("entrypoint");
  if (entrypoint == nullptr) {
    return words;
  }
  if (entrypoint->as_text() != nullptr) {
    take(*entrypoint->as_text());
  } else if (entrypoint->as_list() != nullptr) {
    for (const Value& word : *entrypoint->as_list()) {
      take(word.as_text() != nullptr ? *word.as_text() : std::string());
    }
  }
  return words;
}

}  // namespace

bool is_program_file(std::string_view path, bool executable, std::string_view begin) {
  std::string lower(path);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const bool settings = lower.ends_with(".yaml") || lower.ends_with(".yml");
  if (settings && (begins_line(begin, "entrypoint:") || begins_line(begin, "searcher:"))) {
    return false;
  }
  return executable || begin.starts_with("#!") ||
         std::any_of(endings.begin(), endings.end(),
                     [&lower](std::string_view ending) { return lower.ends_with(ending); });
}

context::ContextListing named_by_entrypoint(const std::string& directory, const Value& tree) {
  context::ContextListing listing;
  for (const std::string& word : words_of_entrypoint(tree)) {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::path(directory) / word;
    if (!word.empty() && word.front() != '/' && std::filesystem::is_regular_file(path, error)) {
      context::ContextFile file;
      file.path = word;
      file.bytes = std::filesystem::file_size(path, error);
      listing.files.push_back(std::move(file));
    }
  }
  return listing;
}

Outcome<Value> program_files(const std::string& directory, const std::vector<context::ContextFile>& files,
                             const Value& tree, const std::filesystem::path& experiment_file) {
  const std::set<std::string> named = words_of_entrypoint(tree);
  Value::Map program;
  for (const context::ContextFile& file : files) {
    if (file.kind != context::ContextFile::Kind::file || file.bytes > most_file_bytes) {
      continue;
    }
    if (std::error_code error;
        std::filesystem::equivalent(directory + "/" + file.path, experiment_file, error)) {
      continue;
    }
    std::ifstream in(directory + "/" + file.path, std::ios::binary);
    std::string bytes(looked_at, '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(in.gcount()));
    if (!named.contains(file.path) && !is_program_file(file.path, file.executable, bytes)) {
      continue;
    }
    for (std::string part(64UL * 1024, '\0'); in && bytes.size() <= most_file_bytes;) {
      in.read(part.data(), static_cast<std::streamsize>(part.size()));
      bytes.append(part.data(), static_cast<std::size_t>(in.gcount()));
    }
    if (in.bad() || (!in.eof() && !in)) {
      return plain_failure("cannot read " + directory + "/" + file.path);
    }
    program[file.path] = files::sha256_of(bytes);
  }
  return Value(std::move(program));
}

std::vector<std::string> changed_files(const Value& before, const Value& now) {
  std::vector<std::string> changed;
  if (before.as_map() == nullptr || now.as_map() == nullptr) {
    return changed;
  }
  for (const auto& [path, digest] : *before.as_map()) {
    const Value* found = now.as_map()->find(path);
    if (found == nullptr || !(*found == digest)) {
      changed.push_back(path);
    }
  }
  return changed;
}

}  // namespace hpsearch::cli

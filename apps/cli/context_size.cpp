#include "cli/context_size.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/ignore_rules.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::cli {

namespace fs = std::filesystem;
using engine::Done;
using engine::IgnoreRules;

namespace {

using SizedFile = std::pair<std::uint64_t, std::string>;  // Bytes, path below the context.

IgnoreRules ignore_rules_of(const fs::path& context) {
  for (const char* name : {".hpsearchignore", ".detignore"}) {
    if (std::ifstream file(context / name, std::ios::binary); file) {
      return IgnoreRules(std::string((std::istreambuf_iterator<char>(file)), {}));
    }
  }
  return {};
}

/// Directories that workers never copy: whoever keeps a daemon's or worker's state in the context has reasons.
bool is_never_copied(const fs::path& directory) {
  const std::string name = directory.filename().string();
  std::error_code error;
  const auto has = [&](const char* file) { return fs::exists(directory / file, error); };
  return name == ".git" || name == ".hpsearch" || name == "__pycache__" ||
         (has("lock") && (has("worker.json") || has("events.db"))) || (has("run.json") && has("worker"));
}

std::vector<SizedFile> files_of(const fs::path& context) {
  const IgnoreRules rules = ignore_rules_of(context);
  std::vector<SizedFile> files;
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(context, options, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    const bool is_directory = at->is_directory(ignored) && !at->is_symlink(ignored);
    const std::string path = at->path().lexically_relative(context).generic_string();
    if (rules.ignores(path, is_directory) || (is_directory && is_never_copied(at->path()))) {
      at.disable_recursion_pending();
    } else if (!is_directory && !at->is_symlink(ignored) && at->is_regular_file(ignored)) {
      files.emplace_back(at->file_size(ignored), path);
    }
  }
  return files;
}

std::string megabytes_text(std::uint64_t bytes) {
  return engine::short_number(static_cast<double>((bytes + 50'000) / 100'000) / 10) + " MB";
}

}  // namespace

Outcome<Done> check_context_size(const std::string& directory, std::uint64_t megabytes) {
  std::vector<SizedFile> files = files_of(directory);
  std::uint64_t bytes = 0;
  for (const auto& [size, path] : files) {
    bytes += size;
  }
  if (bytes <= megabytes * 1'000'000) {
    return Done{};
  }
  constexpr std::size_t named = 3;
  std::sort(files.begin(), files.end(),
            [](const SizedFile& a, const SizedFile& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  std::string largest;
  for (std::size_t i = 0; i < files.size() && i < named; ++i) {
    largest += (i == 0 ? "" : ", ") + files[i].second + " (" + megabytes_text(files[i].first) + ")";
  }
  return usage_failure("the context directory " + directory + " holds " + megabytes_text(bytes) +
                       ", of which every trial gets a copy; at most " + std::to_string(megabytes) +
                       " MB are taken. The largest files are " + largest +
                       ". Leave files out by a .hpsearchignore, name data as inputs, or raise --context-limit");
}

}  // namespace hpsearch::cli

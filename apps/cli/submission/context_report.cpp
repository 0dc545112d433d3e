#include "cli/submission/context_report.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "cli/render/text.hpp"

namespace hpsearch::cli {

using context::ContextFile;
using context::ContextListing;

namespace {

constexpr std::size_t most_named = 5;

/// "a, b and 7 more".
std::string enumerated(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), most_named); ++i) {
    out += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() > most_named ? out + " and " + std::to_string(names.size() - most_named) + " more"
                                   : out;
}

std::vector<std::string> largest_directories(const std::vector<ContextFile>& files) {
  std::map<std::string, std::uint64_t> bytes_in;
  for (const ContextFile& file : files) {
    if (const std::size_t slash = file.path.find('/'); slash != std::string::npos) {
      bytes_in[file.path.substr(0, slash + 1)] += file.bytes;
    }
  }
  std::vector<std::pair<std::string, std::uint64_t>> by_size(bytes_in.begin(), bytes_in.end());
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  by_size.resize(std::min(by_size.size(), most_named));
  std::vector<std::string> out;
  for (const auto& [name, bytes] : by_size) {
    out.push_back(name + " (" + bytes_text(bytes) + ")");
  }
  return out;
}

}  // namespace

std::vector<std::string> context_report(const ContextListing& listing) {
  std::uint64_t bytes = 0;
  std::uint64_t files = 0;
  for (const ContextFile& file : listing.files) {
    bytes += file.bytes;
    files += file.kind == ContextFile::Kind::directory ? 0U : 1U;
  }
  const std::vector<std::string> directories = largest_directories(listing.files);
  std::vector<std::string> out{"each trial gets a copy of " + counted(files, "file") + ", " +
                               bytes_text(bytes) +
                               (directories.size() < 2 ? "" : ": " + enumerated(directories))};
  if (!listing.left_out.empty()) {
    out.push_back("left out: " + enumerated(listing.left_out) +
                  "; to take one in, write !NAME in .hpsearchignore");
  }
  return out;
}

}  // namespace hpsearch::cli

#include "hpsearch/io/archive/context_files.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/archive/ignore_rules.hpp"

namespace hpsearch::context {

namespace fs = std::filesystem;
using context::IgnoreRules;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

namespace {

constexpr std::string_view own_name = ".hpsearch";
constexpr std::string_view not_worth_a_word = "__pycache__";

/// The state of a daemon, a worker or a run may be inside the context. If it were included, every trial would
/// contain all trials.
bool is_state_directory(const fs::path& directory) {
  std::error_code error;
  const auto has = [&](const char* name) { return fs::exists(directory / name, error); };
  const bool locked = has("lock") && (has("worker.json") || has("events.db"));
  return locked || (has("run.json") && has("worker"));
}

Error unreadable(const fs::path& path, const std::error_code& error) {
  return Error{Errc::unavailable,
               "cannot read " + path.string() + " of the context directory: " + error.message()};
}

/// The patterns of files to leave out; Determined's users know the second name.
Result<IgnoreRules> ignore_rules_of(const fs::path& context) {
  for (const char* name : {".hpsearchignore", ".detignore"}) {
    std::error_code error;
    if (!fs::exists(context / name, error)) {
      continue;
    }
    std::ifstream file(context / name, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file.good() && !file.eof()) {
      return Error{Errc::unavailable, "cannot read " + (context / name).string()};
    }
    return IgnoreRules(std::string(left_out_by_default) + text);
  }
  return IgnoreRules(left_out_by_default);
}

/// The target is relative if it is inside, absolute if it is outside, so that a copy of the link has the same
/// target.
std::string target_of(const fs::path& context, const fs::path& link, const fs::path& target) {
  const fs::path meant =
      (link.parent_path() / target).lexically_normal();  // If the target is absolute, it stays.
  const fs::path inside = meant.lexically_relative(context);
  if (inside.empty() || *inside.begin() == "..") {
    return meant.string();
  }
  return target.is_relative() ? target.string() : meant.lexically_relative(link.parent_path()).string();
}

class Walk {
 public:
  Walk(fs::path context, IgnoreRules ignored) : context_(std::move(context)), ignored_(std::move(ignored)) {}

  Status directory(const fs::path& from) {
    std::error_code error;
    fs::directory_iterator at(from, error);
    for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
      if (const Status taken = entry(*at); !taken) {
        return taken;
      }
    }
    return error ? Status(unreadable(from, error)) : Status(Done{});
  }

  ContextListing take() {
    std::sort(listing_.files.begin(), listing_.files.end(),
              [](const ContextFile& a, const ContextFile& b) { return a.path < b.path; });
    std::sort(listing_.left_out.begin(), listing_.left_out.end());
    return std::move(listing_);
  }

 private:
  Status entry(const fs::directory_entry& from) {
    const std::string name = from.path().filename().string();
    if (name == own_name) {
      return Done{};
    }
    std::error_code error;
    const fs::file_status status = from.symlink_status(error);
    ContextFile file;
    file.path = from.path().lexically_relative(context_).generic_string();
    const bool is_directory = status.type() == fs::file_type::directory;
    if (ignored_.ignores(file.path, is_directory)) {
      if (name != not_worth_a_word && defaults_.ignores(file.path, is_directory)) {
        listing_.left_out.push_back(file.path + (is_directory ? "/" : ""));
      }
      return Done{};
    }
    switch (status.type()) {
      case fs::file_type::directory:
        if (is_state_directory(from.path())) {
          return Done{};
        }
        file.kind = ContextFile::Kind::directory;
        listing_.files.push_back(std::move(file));
        return directory(from.path());
      case fs::file_type::symlink:
        file.kind = ContextFile::Kind::link;
        file.target = target_of(context_, from.path(), fs::read_symlink(from.path(), error));
        break;
      case fs::file_type::regular:
        file.bytes = fs::file_size(from.path(), error);
        file.executable = (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
        break;
      default:
        return Done{};  // Sockets, pipes and devices aren't source code.
    }
    if (error) {
      return unreadable(from.path(), error);
    }
    listing_.files.push_back(std::move(file));
    return Done{};
  }

  fs::path context_;
  IgnoreRules ignored_;
  IgnoreRules defaults_{left_out_by_default};
  ContextListing listing_;
};

std::string megabytes_text(std::uint64_t bytes) {
  return engine::short_number(static_cast<double>((bytes + 50'000) / 100'000) / 10) + " MB";
}

}  // namespace

Result<ContextListing> context_files(const fs::path& context) {
  std::error_code error;
  const fs::path place = context.lexically_normal();
  if (!fs::is_directory(place, error)) {
    return Error{Errc::not_found, "the context directory " + context.string() + " is not there"};
  }
  Result<IgnoreRules> ignored = ignore_rules_of(place);
  if (!ignored) {
    return ignored.error();
  }
  Walk walk(place.has_filename() ? place : place.parent_path(), *std::move(ignored));
  const Status walked = walk.directory(place.has_filename() ? place : place.parent_path());
  return walked ? Result<ContextListing>(walk.take()) : walked.error();
}

Status check_size(std::string_view whose, std::vector<ContextFile> files, std::uint64_t megabytes) {
  std::uint64_t bytes = 0;
  for (const ContextFile& file : files) {
    bytes += file.bytes;
  }
  if (bytes <= megabytes * 1'000'000) {
    return Done{};
  }
  constexpr std::size_t named = 3;
  std::stable_sort(files.begin(), files.end(),
                   [](const ContextFile& a, const ContextFile& b) { return a.bytes > b.bytes; });
  std::string largest;
  for (std::size_t i = 0; i < files.size() && i < named && files[i].bytes > 0; ++i) {
    largest += (i == 0 ? "" : ", ") + files[i].path + " (" + megabytes_text(files[i].bytes) + ")";
  }
  return Error{Errc::bad_request, std::string(whose) + " holds " + megabytes_text(bytes) +
                                      ", of which every trial gets a copy; at most " +
                                      std::to_string(megabytes) + " MB are taken. The largest files are " +
                                      largest +
                                      ". Leave files out by a .hpsearchignore, name data as inputs, or raise "
                                      "--context-limit"};
}

}  // namespace hpsearch::context

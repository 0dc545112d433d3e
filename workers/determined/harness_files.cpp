#include "hpsearch/workers/determined/harness_files.hpp"

#include <sys/wait.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <system_error>
#include <utility>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/json.hpp"
#include "hpsearch/workers/core/hyperparameter_forms.hpp"
#include "hpsearch/workers/shell/files.hpp"
#include "hpsearch/workers/shell/own_directory.hpp"

namespace hpsearch::workers {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using engine::Value;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t largest_record = 16UL * 1024 * 1024;
constexpr const char* record_of_strangers = "from-another-program";

/// Hard links instead of copies, where the file system has them.
Status share_tree(const fs::path& from, const fs::path& to) {
  std::error_code error;
  for (fs::directory_iterator at(from, error), end; !error && at != end; at.increment(error)) {
    const fs::path& path = at->path();
    const fs::path place = to / path.filename();
    const fs::file_status status = at->symlink_status(error);
    if (error) {
      break;
    }
    if (fs::is_directory(status)) {
      Status made = make_directories(place);
      if (made) {
        made = share_tree(path, place);
      }
      if (!made) {
        return made;
      }
      continue;
    }
    fs::remove(place, error);
    if (fs::is_symlink(status)) {
      fs::copy_symlink(path, place, error);
      if (error) {
        break;
      }
      continue;
    }
    fs::create_hard_link(path, place, error);
    if (error) {
      error.clear();
      if (const Status copied = copy_one_file(path, place); !copied) {
        return copied;
      }
    }
  }
  return error ? Status(file_error("cannot take the checkpoint", from, error)) : Status(Done{});
}

/// Of what the record says that the checkpoint has, or "".
std::string first_missing(const fs::path& directory, const Value& record) {
  const Value* resources = record.at_path("resources");
  const Value::Map* files = resources != nullptr ? resources->as_map() : nullptr;
  if (files == nullptr) {
    return "";
  }
  for (const auto& [name, size] : *files) {
    // Links may lead to places that only the harness sees.
    const std::string_view entry =
        std::string_view(name).substr(0, name.size() - (name.ends_with('/') ? 1 : 0));
    std::error_code error;
    if (fs::symlink_status(directory / entry, error).type() == fs::file_type::not_found) {
      return name;
    }
  }
  return "";
}

}  // namespace

Status HarnessFiles::make(const std::string& cluster) const {
  for (const fs::path& path :
       {run(), run() / "info", run() / "train", run() / "workdir", storage(), root()}) {
    if (const Status made = make_directories(path); !made) {
      return made;
    }
  }
  std::error_code error;
  fs::create_directory_symlink(output_, storage() / cluster, error);
  return error ? Status(file_error("cannot make", storage() / cluster, error)) : Status(Done{});
}

Result<Value> HarnessFiles::lend(const fs::path& path) const {
  if (path.empty()) {
    return Value();
  }
  Value record;
  const Result<std::string> text = read_file(path / determined_record_name, largest_record);
  if (text) {
    Result<Value> parsed =
        proto::parse_json(*text, {.bytes = largest_record, .depth = 64, .nodes = 1'000'000});
    if (!parsed || parsed->at_path("uuid") == nullptr || parsed->at_path("uuid")->as_text() == nullptr) {
      return Error{Errc::corrupt, (path / determined_record_name).string() + " is no record of a checkpoint"};
    }
    record = *std::move(parsed);
  } else {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      return Error{Errc::not_found, "the checkpoint " + path.string() + " is not there (any more)"};
    }
    record = Value::Map{{"uuid", record_of_strangers},
                        {"steps_completed", 0},
                        {"metadata", Value::Map{{"steps_completed", 0}}}};
  }
  std::error_code error;
  fs::create_directory_symlink(path, storage() / *record.at_path("uuid")->as_text(), error);
  if (error) {
    return file_error("cannot lend the checkpoint", path, error);
  }
  return record;
}

Status HarnessFiles::take(const std::string& uuid, const Value& record) {
  const fs::path from = storage() / uuid;
  std::error_code error;
  if (!fs::is_directory(from, error)) {
    return Error{Errc::not_found, "there is no checkpoint " + uuid + " in the storage it was given"};
  }
  if (const std::string missing = first_missing(from, record); !missing.empty()) {
    return Error{Errc::not_found,
                 "the checkpoint " + uuid + " has no " + missing +
                     " on this node: what other nodes write (shard=True) does not come here"};
  }
  // What an earlier one left that the worker could not take.
  if (const Status emptied = empty_checkpoint_directory(checkpoint_); !emptied) {
    return emptied;
  }
  Status taken = share_tree(from, checkpoint_);
  if (taken) {
    taken = write_file(checkpoint_ / determined_record_name, engine::compact_json(record) + "\n", false);
  }
  if (taken && !newest_.empty() && newest_ != uuid) {
    remove_tree(storage() / newest_);
  }
  newest_ = uuid;
  return taken;
}

std::string HarnessFiles::part_of_a_checkpoint() const {
  std::error_code error;
  for (fs::directory_iterator at(storage(), error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    const bool is_its_own = at->symlink_status(ignored).type() == fs::file_type::directory;  // Links lend.
    if (is_its_own && !fs::is_empty(at->path(), ignored) && !ignored) {
      return at->path().filename().string();
    }
  }
  return "";
}

void HarnessFiles::tidy(const std::string& cluster) const {
  const fs::path top = storage() / cluster / "tensorboard";
  std::error_code error;
  std::vector<fs::path> directories{top};
  for (fs::recursive_directory_iterator at(top, error), end; !error && at != end; at.increment(error)) {
    if (at->is_directory(error)) {
      directories.push_back(at->path());
    }
  }
  for (auto deepest = directories.rbegin(); deepest != directories.rend(); ++deepest) {
    fs::remove(*deepest, error);  // Only when nothing is in it.
  }
}

Result<std::string> pack_in_base64(const fs::path& directory) {
  const std::string command = "tar -C " + shell_word(directory.string()) + " -czf - .";
  const auto close = [](std::FILE* pipe) { ::pclose(pipe); };
  std::unique_ptr<std::FILE, decltype(close)> pipe(::popen(command.c_str(), "re"), close);
  if (!pipe) {
    return Error{Errc::unavailable, "cannot run tar"};
  }
  std::string packed;
  std::array<char, 64UL * 1024> piece;  // Filled by fread().
  while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), pipe.get())) {
    packed.append(piece.data(), got);
  }
  const int status = ::pclose(pipe.release());
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return Error{Errc::unavailable, "cannot pack " + directory.string() + ": tar failed"};
  }
  return base64(packed);
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t three = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      three = three << 8 | (i < left ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text.push_back(i <= left ? letters[three >> (18 - 6 * i) & 63U] : '=');
    }
  }
  return text;
}

}  // namespace hpsearch::workers

#include "hpsearch/workers/determined/harness_files.hpp"

#include <sys/wait.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <system_error>
#include <utility>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/files/tree.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/workers/core/launch/hyperparameter_forms.hpp"
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
using files::Directory;
using files::Entry;
using files::Kind;

namespace {

constexpr std::size_t largest_record = 16UL * 1024 * 1024;
constexpr const char* record_of_strangers = "from-another-program";

std::vector<std::string> directories_in(const Directory& directory) {
  std::vector<std::string> names;
  if (const Result<std::vector<Entry>> entries = directory.entries()) {
    for (const Entry& entry : *entries) {
      if (entry.kind == Kind::directory) {
        names.push_back(entry.name);
      }
    }
  }
  return names;
}

void remove_empty_directories(const Directory& above, const std::string& name, int depth) {
  const Result<Directory> directory = above.directory(name);
  if (!directory || depth > files::deepest_tree) {
    return;
  }
  for (const std::string& inside : directories_in(*directory)) {
    remove_empty_directories(*directory, inside, depth + 1);
  }
  static_cast<void>(above.remove(name).has_value());  // Fails unless it is empty.
}

/// The first file of the record that the checkpoint lacks, or "".
std::string first_missing(const Directory& directory, const Value& record) {
  const Value* resources = record.at_path("resources");
  const Value::Map* files = resources != nullptr ? resources->as_map() : nullptr;
  if (files == nullptr) {
    return "";
  }
  for (const auto& [name, size] : *files) {
    const std::string entry = name.substr(0, name.size() - (name.ends_with('/') ? 1 : 0));
    // Links may point to places that only the harness sees, so their targets aren't checked.
    if (const auto there = directory.kind(entry); there && !there->has_value()) {
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
  const Result<Directory> kept = kept_storage();
  const Result<Directory> from = kept ? kept->directory(uuid) : kept.error();
  if (!from) {
    return Error{Errc::not_found, "there is no checkpoint " + uuid + " in the storage it was given"};
  }
  if (const std::string missing = first_missing(*from, record); !missing.empty()) {
    return Error{Errc::not_found,
                 "the checkpoint " + uuid + " has no " + missing +
                     " on this node: what other nodes write (shard=True) does not come here"};
  }
  // Discards files of an earlier one that the worker couldn't publish.
  const Result<Directory> checkpoint = emptied_checkpoint_directory(checkpoint_);
  if (!checkpoint) {
    return checkpoint.error();
  }
  Status taken = files::copy_content(*from, *checkpoint, files::Files::shared);
  if (taken) {
    taken = checkpoint->write(determined_record_name, engine::compact_json(record) + "\n", false);
  }
  if (taken && !newest_.empty() && newest_ != uuid) {
    static_cast<void>(files::remove_tree(*kept, newest_).has_value());
  }
  newest_ = uuid;
  return taken;
}

Result<Directory> HarnessFiles::kept_storage() const {
  const Result<Directory> own = Directory::open(directory_);
  return own ? own->directory(storage().filename()) : own.error();
}

std::string HarnessFiles::part_of_a_checkpoint() const {
  const Result<Directory> kept = kept_storage();
  if (!kept) {
    return "";
  }
  for (const std::string& name : directories_in(*kept)) {  // Links lend.
    const Result<Directory> own = kept->directory(name);
    const auto inside = own ? own->entries() : Result<std::vector<Entry>>(own.error());
    if (inside && !inside->empty()) {
      return name;
    }
  }
  return "";
}

void HarnessFiles::tidy() const {
  if (const Result<Directory> output = Directory::open(output_)) {
    remove_empty_directories(*output, "tensorboard", 0);
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

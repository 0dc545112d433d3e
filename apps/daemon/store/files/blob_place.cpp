#include "daemon/store/files/blob_place.hpp"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <string>

#include "daemon/store/files/file_sync.hpp"
#include "daemon/store/files/file_system.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

constexpr const char* place_name = "/blobs.json";

/// Null: there is no such file.
Result<std::optional<std::string>> text_of_file(const std::string& path) {
  const auto bytes = kernel_files().read(path);
  if (!bytes) {
    return bytes.error().code == Errc::not_found ? Result<std::optional<std::string>>(std::nullopt)
                                                 : bytes.error();
  }
  return std::optional(std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()));
}

Status write_text(const std::string& path, const std::string& text) {
  const std::array parts{std::as_bytes(std::span(text))};
  return write_file_durably(kernel_files(), path, parts);
}

/// Null: the blobs are in the state directory.
Result<std::optional<std::string>> named_place(const std::string& state_directory) {
  const std::string path = state_directory + place_name;
  const auto text = text_of_file(path);
  if (!text || !*text) {
    return text;
  }
  const auto value = proto::parse_json(**text);
  const auto place = value ? proto::decode_value<BlobPlace>(*value) : Result<BlobPlace>(value.error());
  if (!place) {
    return Error{Errc::corrupt, path + " is damaged: " + place.error().message};
  }
  return std::optional(place->directory);
}

std::string mark_in(const std::string& directory) {
  return directory + "/" + blob_mark_name;
}

std::string mark_of(std::uint64_t cluster) {
  return "{\"store\":\"" + std::to_string(cluster) + "\"}\n";
}

Error without_mark(const std::string& directory, const std::string& state_directory) {
  return Error{Errc::unavailable, "the directory of contexts and kept files, " + directory + ", has no " +
                                      blob_mark_name +
                                      ": mount its file system; if the directory is lost, remove " +
                                      state_directory + place_name + " to begin with an empty one"};
}

/// A directory that isn't the store's yet: blobs that are elsewhere would seem to be lost.
Status check_moved(const std::string& from, const std::string& to) {
  for (const char* const part : {"/contexts", "/kept"}) {
    if (!kernel_files().names_in(from + part).empty() && kernel_files().names_in(to + part).empty()) {
      return Error{Errc::bad_request, "--blobs: the store has files in " + from + part +
                                          "; while no daemon runs, move that directory to " + to + part};
    }
  }
  return Done{};
}

Status make_if_missing(const std::string& directory) {
  struct stat info {};
  // Looked at first: making one that exists fails otherwise where its parent can't be written.
  if (::stat(directory.c_str(), &info) != 0 && ::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{Errc::unavailable, "--blobs: " + system_error("cannot make " + directory).message};
  }
  if (::stat(directory.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return Error{Errc::bad_request,
                 "--blobs is \"" + directory + "\", which is no directory; give it the path of one"};
  }
  return Done{};
}

}  // namespace

Result<std::string> blobs_of(const std::string& state_directory) {
  const auto named = named_place(state_directory);
  if (!named) {
    return named.error();
  }
  if (!*named) {
    return state_directory;
  }
  const auto mark = text_of_file(mark_in(**named));
  if (!mark) {
    return mark.error();
  }
  return *mark ? Result<std::string>(**named) : without_mark(**named, state_directory);
}

Result<std::string> prepare_blobs(const std::string& given, const std::string& state_directory,
                                  std::uint64_t cluster) {
  const auto named = named_place(state_directory);
  if (!named) {
    return named.error();
  }
  if (given.empty()) {
    return !*named ? Result<std::string>(state_directory)
                   : Error{Errc::bad_request,
                           "contexts and kept files of the store are in " + **named +
                               "; give it as --blobs, or move contexts and kept from there into " +
                               state_directory + " and remove " + state_directory + place_name};
  }
  if (given.front() != '/') {
    return Error{Errc::bad_request, "--blobs is \"" + given + "\"; it must be an absolute path"};
  }
  const bool had_it = *named && **named == given;
  if (!had_it) {
    if (const Status made = make_if_missing(given); !made) {
      return made.error();
    }
  }
  const auto mark = text_of_file(mark_in(given));
  if (!mark) {
    return Error{Errc::unavailable, "--blobs: " + mark.error().message};
  }
  if (*mark && **mark != mark_of(cluster)) {
    const std::string& found = **mark;
    return Error{Errc::bad_request,
                 "--blobs: " + given + " has contexts and kept files of another store (its " +
                     blob_mark_name + " says " + found.substr(0, found.find('\n')) + ", this store is " +
                     std::to_string(cluster) + "); give this store another directory"};
  }
  if (!*mark) {
    if (had_it) {
      return without_mark(given, state_directory);
    }
    if (const Status moved = check_moved(named->value_or(state_directory), given); !moved) {
      return moved.error();
    }
    if (const Status marked = write_text(mark_in(given), mark_of(cluster)); !marked) {
      return Error{Errc::unavailable, "--blobs: " + marked.error().message};
    }
  }
  if (!had_it) {
    const std::string text = engine::compact_json(proto::encode_value(BlobPlace{given})) + "\n";
    if (const Status written = write_text(state_directory + place_name, text); !written) {
      return written.error();
    }
  }
  return given;
}

}  // namespace hpsearch::daemon

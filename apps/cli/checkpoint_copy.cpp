#include "cli/checkpoint_copy.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <span>
#include <system_error>
#include <utility>

#include "cli/text.hpp"
#include "hpsearch/jobs/remote_storage.hpp"
#include "hpsearch/net/rclone.hpp"
#include "hpsearch/proto/checkpoint_manifest.hpp"
#include "hpsearch/proto/json.hpp"
#include "hpsearch/proto/record.hpp"
#include "hpsearch/proto/stored.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;
using engine::Value;

using proto::manifest_name;

/// Compares a copied file with what the manifest says of it; the complaint, or "".
std::string difference(const fs::path& file, const proto::ManifestEntry& entry) {
  std::ifstream in(file, std::ios::binary);
  std::array<char, 256 * 1024> piece;  // Filled by read().
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0) {
    const auto got = static_cast<std::size_t>(in.gcount());
    crc = proto::crc32c(crc, std::as_bytes(std::span(piece.data(), got)));
    size += got;
  }
  if (size != entry.bytes) {
    return "has " + std::to_string(size) + " bytes instead of " + std::to_string(entry.bytes.value_or(0));
  }
  return crc == entry.crc32c ? "" : "is damaged: its checksum differs";
}

/// Everything that lies at `from`; the complaint, or "".
std::string bring_from_directory(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::remove_all(to, error);
  fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
  return error ? "cannot copy to " + to.string() + ": " + error.message() : "";
}

/// Files that are there already, of the same size and time, are not fetched again.
std::string bring_from_store(const std::string& from, const fs::path& to,
                             const std::map<std::string, std::string>& environment) {
  const engine::Status fetched =
      net::run_rclone({"sync", "--links", jobs::rclone_place(from), to.string()}, environment);
  return fetched ? "" : "cannot fetch " + from + ": " + fetched.error().message;
}

struct Checked {
  std::uint64_t files = 0;
  std::string complaint;  ///< About the first file that is not what the manifest says.
};

Checked compare_with_manifest(const std::string& from, const fs::path& place) {
  Checked checked;
  std::ifstream in(place / manifest_name, std::ios::binary);
  if (!in) {
    checked.complaint = from + " holds no " + manifest_name + ": it is not a checkpoint, or is being deleted";
    return checked;
  }
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto json = proto::parse_json(text, proto::manifest_limits);
  const auto manifest = json ? proto::decode_value<proto::CheckpointManifest>(*json)
                             : engine::Result<proto::CheckpointManifest>(json.error());
  if (!manifest) {
    checked.complaint = "the manifest of " + from + " is damaged: " + manifest.error().message;
    return checked;
  }
  for (const proto::ManifestEntry& entry : manifest->files) {
    if (entry.link) {
      continue;
    }
    if (const std::string wrong = difference(place / entry.path, entry); !wrong.empty()) {
      checked.complaint = from + ": " + entry.path + " " + wrong;
      return checked;
    }
    ++checked.files;
  }
  return checked;
}

}  // namespace

Outcome<Value> copy_checkpoint(const std::string& from, const fs::path& named,
                               const std::map<std::string, std::string>& environment) {
  const fs::path to = named.has_filename() ? named : named.parent_path();  // Without a slash at its end.
  const bool remote = jobs::is_remote(from);
  std::error_code error;
  if (fs::exists(fs::symlink_status(to, error))) {
    return conflict_failure(to.string() + " already exists; name a new directory");
  }
  if (remote) {
    if (const engine::Status found = net::find_rclone(); !found) {
      return plain_failure("the checkpoint is in an object store: " + from + "; " + found.error().message);
    }
  } else if (!fs::is_regular_file(fs::path(from) / manifest_name, error)) {
    return plain_failure(
        "the checkpoint " + from +
        " cannot be read on this machine; run this on one that shares the file system with the workers");
  }
  const fs::path unfinished = to.string() + ".unfinished";
  const std::string broken_off =
      remote ? bring_from_store(from, unfinished, environment) : bring_from_directory(from, unfinished);
  if (!broken_off.empty() && remote) {
    return plain_failure(broken_off + "; the same command continues the download (" + unfinished.string() +
                         ")");
  }
  const Checked checked =
      broken_off.empty() ? compare_with_manifest(from, unfinished) : Checked{0, broken_off};
  if (!checked.complaint.empty()) {
    fs::remove_all(unfinished, error);
    return plain_failure(checked.complaint);
  }
  fs::rename(unfinished, to, error);
  if (error) {
    const std::string why = "cannot make " + to.string() + ": " + error.message();
    fs::remove_all(unfinished, error);
    return plain_failure(why);
  }
  return Value(
      Value::Map{{"path", to.string()}, {"from", from}, {"files", static_cast<std::int64_t>(checked.files)}});
}

}  // namespace hpsearch::cli

#include "cli/artifacts/checkpoint_copy.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/render/text.hpp"
#include "hpsearch/io/files/links.hpp"
#include "hpsearch/io/files/tree.hpp"
#include "hpsearch/io/net/rclone.hpp"
#include "hpsearch/jobs/fields/remote_storage.hpp"
#include "hpsearch/jobs/fields/secrets.hpp"
#include "hpsearch/proto/events/stored.hpp"
#include "hpsearch/proto/sentences/words.hpp"
#include "hpsearch/proto/wire/checkpoint_manifest.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;
using engine::Value;
using files::Directory;

using proto::manifest_name;

/// Marks an unfinished download: a directory without it belongs to another program.
constexpr const char* mark_name = ".hpsearch-download";

/// Compares a copied file with its entry in the manifest; the problem, or "".
std::string difference(const Directory& place, const proto::ManifestEntry& entry) {
  const auto file = place.file(entry.path);
  if (!file) {
    return "is missing: " + file.error().message;
  }
  std::array<char, 256 * 1024> piece;  // read() fills it.
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  for (;;) {
    const ssize_t got = ::read(file->get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return "cannot be read: " + std::generic_category().message(errno);
    }
    if (got == 0) {
      break;
    }
    crc = proto::crc32c(crc, std::as_bytes(std::span(piece.data(), static_cast<std::size_t>(got))));
    size += static_cast<std::uint64_t>(got);
  }
  if (size != entry.bytes) {
    return "has " + sentences::counted(size, "byte") + " instead of " +
           std::to_string(entry.bytes.value_or(0));
  }
  return crc == entry.crc32c ? "" : "is damaged: its checksum differs";
}

/// Files that exist already, with the same size and time, are not fetched again.
std::string bring_from_store(const std::string& from, const fs::path& to,
                             const std::map<std::string, std::string>& environment) {
  const engine::Status fetched = net::run_rclone(
      {"sync", "--links", jobs::rclone_place(from), to.string(), std::string("--exclude=/") + mark_name},
      environment);
  return fetched ? "" : "cannot fetch " + from + ": " + fetched.error().message;
}

struct Checked {
  std::uint64_t files = 0;
  std::string complaint;  ///< The first file that differs from the manifest.
};

Checked compare_with_manifest(const std::string& from, const Directory& place) {
  Checked checked;
  const auto text = place.read(manifest_name, proto::largest_manifest);
  if (!text && text.error().code == engine::Errc::not_found) {
    checked.complaint = from + " holds no " + manifest_name + ": it is not a checkpoint, or is being deleted";
    return checked;
  }
  const auto manifest =
      text ? proto::read_manifest(*text) : engine::Result<proto::CheckpointManifest>(text.error());
  if (!manifest) {
    checked.complaint = "the manifest of " + from + " is damaged: " + manifest.error().message;
    return checked;
  }
  for (const proto::ManifestEntry& entry : manifest->files) {
    if (entry.link) {
      continue;
    }
    if (const std::string wrong = difference(place, entry); !wrong.empty()) {
      checked.complaint = from + ": " + printable(entry.path) + " " + wrong;
      return checked;
    }
    ++checked.files;
  }
  return checked;
}

/// The directory to copy into: a new one, or, with `goes_on`, the one that an earlier download has left.
engine::Result<Directory> begin(const Directory& above, const std::string& unfinished, bool goes_on) {
  const auto ours = [&] {
    const auto mark = above.kind(fs::path(unfinished) / mark_name);
    return mark && *mark == files::Kind::file;
  };
  if (above.has(unfinished) && !ours()) {
    return engine::Error{engine::Errc::wrong_state,
                         (above.name() / unfinished).string() +
                             " already exists and is no interrupted download; name another directory"};
  }
  if (!goes_on) {
    if (const engine::Status emptied = files::remove_tree(above, unfinished); !emptied) {
      return emptied.error();
    }
  }
  engine::Status made = above.make_directories(unfinished);
  auto opened = made ? above.directory(unfinished) : engine::Result<Directory>(made.error());
  made = opened ? opened->write(mark_name, "", false) : engine::Status(opened.error());
  return made ? std::move(opened) : engine::Result<Directory>(made.error());
}

engine::Status copy_from_directory(const std::string& from, const Directory& to) {
  const auto source = Directory::open(from);
  return source ? files::copy_content(*source, to) : engine::Status(source.error());
}

Value::List values_of(const std::vector<std::string>& names) {
  Value::List values;
  for (const std::string& name : names) {
    values.emplace_back(printable(name));
  }
  return values;
}

}  // namespace

Outcome<Value> copy_checkpoint(const std::string& from, const fs::path& named,
                               const std::map<std::string, std::string>& environment) {
  const fs::path to = named.has_filename() ? named : named.parent_path();  // Removes a slash at the end.
  const std::string unfinished = to.filename().string() + ".unfinished";
  const fs::path place = to.string() + ".unfinished";
  const bool remote = jobs::is_remote(from);
  const auto above = Directory::open(to.has_parent_path() ? to.parent_path() : fs::path("."));
  if (!above) {
    return plain_failure("cannot make " + to.string() + ": " + above.error().message);
  }
  if (above->has(to.filename())) {
    return conflict_failure(to.string() + " already exists; name a new directory");
  }
  std::error_code error;
  if (remote) {
    if (const engine::Status found = net::find_rclone(); !found) {
      return plain_failure("the checkpoint is in an object store: " + from + "; " + found.error().message);
    }
  } else if (!fs::is_regular_file(fs::path(from) / manifest_name, error)) {
    return plain_failure(
        "the checkpoint " + from +
        " cannot be read on this machine; run this on one that shares the file system with the workers");
  }
  const auto draft = begin(*above, unfinished, remote);
  if (!draft) {
    return draft.error().code == engine::Errc::wrong_state ? conflict_failure(draft.error().message)
                                                           : plain_failure(draft.error().message);
  }
  if (remote) {
    if (const std::string broken_off = bring_from_store(from, place, environment); !broken_off.empty()) {
      return plain_failure(broken_off + "; the same command continues the download (" + place.string() + ")");
    }
  }
  engine::Status done = remote ? engine::Status(engine::Done{}) : copy_from_directory(from, *draft);
  const Checked checked = done ? compare_with_manifest(from, *draft) : Checked{0, done.error().message};
  std::string complaint = checked.complaint;
  Value::List left_out;
  if (complaint.empty()) {
    const auto removed = files::remove_links_out(*draft);
    complaint = removed ? "" : removed.error().message;
    left_out = removed ? values_of(*removed) : Value::List{};
  }
  if (complaint.empty()) {
    done = draft->remove(mark_name);
    done = done ? files::move_entry(*above, unfinished, *above, to.filename()) : done;
    complaint = done ? "" : "cannot make " + to.string() + ": " + done.error().message;
  }
  if (!complaint.empty()) {
    static_cast<void>(files::remove_tree(*above, unfinished).has_value());
    return plain_failure(complaint);
  }
  return Value(Value::Map{{"path", to.string()},
                          {"from", from},
                          {"files", static_cast<std::int64_t>(checked.files)},
                          {"links_left_out", std::move(left_out)}});
}

Outcome<std::map<std::string, std::string>> storage_environment(const Server& server,
                                                                std::uint64_t experiment) {
  const Outcome<Value> answer = server.client().get(experiment_target(experiment, "/config"));
  if (!answer) {
    return answer.failure();
  }
  const std::optional<jobs::RemoteStorage> remote = jobs::remote_storage(*answer);
  if (!remote) {
    return plain_failure("the daemon returned no checkpoint storage for experiment " +
                         std::to_string(experiment) + ", or a version that this hpsearch does not support");
  }
  std::map<std::string, std::string> environment = remote->environment;
  const std::string own = "RCLONE_CONFIG_HPSEARCH_";
  const bool hidden =
      std::erase_if(environment, [](const auto& entry) { return entry.second == jobs::hidden_secret; }) > 0;
  if (hidden) {
    environment.erase(own + "ACCESS_KEY_ID");  // Half of a pair is useless.
  }
  if (hidden || text_at(member(*answer, "checkpoint_storage"), "connection_string") == jobs::hidden_secret) {
    environment[own + "ENV_AUTH"] = "true";
  }
  return environment;
}

}  // namespace hpsearch::cli

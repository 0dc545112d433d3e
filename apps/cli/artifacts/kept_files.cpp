#include "cli/artifacts/kept_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <system_error>
#include <utility>

#include "cli/render/text.hpp"
#include "hpsearch/io/archive/tar_archive.hpp"
#include "hpsearch/io/files/file_bytes.hpp"
#include "hpsearch/io/files/links.hpp"
#include "hpsearch/io/files/tree.hpp"
#include "hpsearch/io/files/tree_walk.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;
using engine::Value;
using files::Directory;

constexpr std::size_t bytes_at_once = std::size_t{1} << 20U;

template <class T>
T read_record(const engine::Result<Directory>& directory, const char* name) {
  const auto text = directory ? directory->read(name, proto::kept_files_limits.bytes)
                              : engine::Result<std::string>(directory.error());
  const auto value =
      text ? proto::parse_json(*text, proto::kept_files_limits) : engine::Result<Value>(text.error());
  auto record = value ? proto::decode_value<T>(*value) : engine::Result<T>(value.error());
  return record ? *std::move(record) : T();
}

}  // namespace

KeptFiles::KeptFiles(const StateDirectory& state, const std::string& store, std::uint64_t experiment)
    : link_(fs::absolute(state.path()) / "trials"),
      below_(fs::path("worker/trials") / store / std::to_string(experiment)),
      root_(fs::absolute(state.path())) {
}

bool KeptFiles::are_here(const Server& server) {
  std::error_code unknown;
  return server.run_state() && fs::exists(server.run_state()->worker(), unknown);
}

Outcome<KeptFiles> KeptFiles::of(const Server& server, std::uint64_t experiment) {
  if (!are_here(server)) {
    return not_found_failure(
        "the files are in trials/STORE/" + std::to_string(experiment) +
        "/TRIAL/files of the state directory of each worker that ran the trial (hpsearch show --trial TRIAL "
        "names them); hpsearch files get copies what the daemon has");
  }
  const Outcome<Value> status = server.client().get("/api/v1/status");
  if (!status) {
    return status.failure();
  }
  return KeptFiles(*server.run_state(), text_at(*status, "cluster"), experiment);
}

engine::Result<Directory> KeptFiles::trial_directory(std::uint64_t trial) const {
  const auto root = Directory::open(root_);
  return root ? root->directory(below_ / std::to_string(trial)) : root.error();
}

proto::KeptTrials KeptFiles::trials() const {
  const auto root = Directory::open(root_);
  auto kept = read_record<proto::KeptTrials>(
      root ? root->directory(below_) : engine::Result<Directory>(root.error()), proto::kept_trials_name);
  std::sort(kept.trials.begin(), kept.trials.end(),
            [](const proto::KeptTrial& a, const proto::KeptTrial& b) { return a.trial < b.trial; });
  return kept;
}

KeptFiles::OfTrial KeptFiles::of_trial(std::uint64_t trial) const {
  OfTrial out;
  const auto directory = trial_directory(trial);
  out.dropped = read_record<proto::DroppedFiles>(directory, proto::dropped_files_name);
  if (const auto files = directory ? directory->directory(proto::kept_files_name) : directory.error()) {
    files::each_file(*files, [&out](const files::TreeEntry& entry) {
      out.files.push_back({entry.path.string(), static_cast<std::uint64_t>(entry.status.st_size)});
      return true;
    });
  }
  return out;
}

fs::path KeptFiles::directory(std::uint64_t trial) const {
  std::error_code error;
  const bool linked = fs::read_symlink(link_, error) == below_;
  return (linked ? link_ : root_ / below_) / std::to_string(trial) / proto::kept_files_name;
}

Outcome<LinksLeftOut> KeptFiles::copy(std::uint64_t trial, const fs::path& to) const {
  const auto directory = trial_directory(trial);
  return directory ? copy_left_directory(*directory, proto::kept_files_name, to)
                   : Outcome<LinksLeftOut>(plain_failure(directory.error().message));
}

Outcome<LinksLeftOut> KeptFiles::save(std::uint64_t trial, std::uint64_t attempt, const fs::path& to) const {
  const auto above = trial_directory(trial);
  auto opened = above ? above->directory(proto::kept_files_name) : engine::Result<Directory>(above.error());
  if (!opened) {
    return plain_failure(opened.error().message);
  }
  const auto directory = std::make_shared<const Directory>(*std::move(opened));
  std::int64_t written_at = 0;
  files::each_file(*directory, [&written_at](const files::TreeEntry& entry) {
    written_at = std::max<std::int64_t>(written_at, entry.status.st_mtim.tv_sec);
    return true;
  });
  files::TarArchive archive(written_at);
  LinksLeftOut left_out;
  files::each_file(*directory, [&](const files::TreeEntry& entry) {
    const std::string path = entry.path.string();
    const std::string name = "attempt-" + std::to_string(attempt) + "/" + path;
    if (S_ISREG(entry.status.st_mode)) {
      archive.add_file(name, {directory, path, static_cast<std::uint64_t>(entry.status.st_size)},
                       (entry.status.st_mode & S_IXUSR) != 0);
    } else if (const auto target = directory->link_target(path); target) {
      if (files::leads_inside(path, *target)) {
        archive.add_link(name, *target);
      } else {
        left_out.push_back(path);
      }
    }
    return true;
  });
  archive.end();
  const Outcome<engine::Done> saved =
      fill_new_file(to, [&](const WritePiece& write) -> Outcome<engine::Done> {
        for (std::uint64_t offset = 0; offset < archive.bytes();) {
          const auto piece = archive.read(offset, bytes_at_once);
          if (!piece) {
            return plain_failure(piece.error().message);
          }
          if (const Outcome<engine::Done> written = write(*piece); !written) {
            return written;
          }
          offset += piece->size();
        }
        return engine::Done{};
      });
  return saved ? Outcome<LinksLeftOut>(std::move(left_out)) : saved.failure();
}

void KeptFiles::link_trials() const {
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(link_, error))) {
    fs::remove(link_, error);
  }
  fs::create_directory_symlink(below_, link_, error);  // Relative, so that the directory can be moved.
}

std::string kept_text(const proto::KeptTrials& kept, const std::string& where) {
  if (kept.trials.empty() && kept.dropped == 0) {
    return "";
  }
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  for (const proto::KeptTrial& trial : kept.trials) {
    files += trial.files;
    bytes += trial.bytes;
  }
  const auto counted = [](std::uint64_t count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  return counted(files, "file") + " (" + bytes_text(bytes) + ") of " + counted(kept.trials.size(), "trial") +
         (where.empty() ? "" : " in " + printable(where)) +
         (kept.dropped == 0
              ? ""
              : "; those of " + counted(kept.dropped, "other trial") + " were not kept (keep_files.max_mb)");
}

void print_links_left_out(const LinksLeftOut& links, const Output& output) {
  for (const std::string& link : links) {
    output.message("left out: " + printable(link) + " is a link that leads out of the copied directory");
  }
}

Outcome<LinksLeftOut> fill_new_directory(
    const fs::path& named, const std::function<Outcome<LinksLeftOut>(const Directory& into)>& fill) {
  const fs::path to = named.has_filename() ? named : named.parent_path();  // Removes a slash at the end.
  const auto above = Directory::open(to.has_parent_path() ? to.parent_path() : fs::path("."));
  if (!above) {
    return plain_failure("cannot make " + to.string() + ": " + above.error().message);
  }
  if (above->has(to.filename())) {
    return conflict_failure(to.string() + " already exists; name a new directory");
  }
  if (const engine::Status made = above->make_directory(to.filename()); !made) {
    return plain_failure(made.error().message);
  }
  const auto into = above->directory(to.filename());
  Outcome<LinksLeftOut> filled =
      into ? fill(*into) : Outcome<LinksLeftOut>(plain_failure(into.error().message));
  if (!filled) {
    static_cast<void>(files::remove_tree(*above, to.filename()).has_value());
  }
  return filled;
}

Outcome<engine::Done> fill_new_file(
    const fs::path& to, const std::function<Outcome<engine::Done>(const WritePiece& write)>& fill) {
  const auto above = Directory::open(to.has_parent_path() ? to.parent_path() : fs::path("."));
  if (!above) {
    return plain_failure("cannot make " + to.string() + ": " + above.error().message);
  }
  if (!to.has_filename() || above->has(to.filename())) {
    return conflict_failure(to.string() + " already exists; name a new file");
  }
  const auto made = above->create(to.filename());
  if (!made) {
    return plain_failure(made.error().message);
  }
  const Outcome<engine::Done> filled = fill([&](std::string_view piece) -> Outcome<engine::Done> {
    return files::write_all(made->get(), piece)
               ? Outcome<engine::Done>(engine::Done{})
               : plain_failure(above->failed("cannot write", to.filename(), errno).message);
  });
  if (!filled) {
    static_cast<void>(above->remove(to.filename()).has_value());
  }
  return filled;
}

Outcome<LinksLeftOut> copy_left_directory(const Directory& above, const std::string& name,
                                          const fs::path& to) {
  const auto from = above.directory(name);
  if (!from) {
    return plain_failure(from.error().message);
  }
  return fill_new_directory(to, [&](const Directory& into) -> Outcome<LinksLeftOut> {
    const engine::Status copied = files::copy_content(*from, into);
    auto left_out = copied ? files::remove_links_out(into) : engine::Result<LinksLeftOut>(copied.error());
    return left_out ? Outcome<LinksLeftOut>(*std::move(left_out))
                    : plain_failure("cannot copy to " + to.string() + ": " + left_out.error().message);
  });
}

}  // namespace hpsearch::cli

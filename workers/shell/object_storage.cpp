#include "hpsearch/workers/shell/object_storage.hpp"

#include <utility>

#include "hpsearch/engine/config/remote_storage.hpp"
#include "hpsearch/net/rclone.hpp"
#include "hpsearch/workers/shell/checkpoint_publisher.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::CheckpointReport;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

namespace {

Status carry(const fs::path& from, const std::string& address,
             const std::map<std::string, std::string>& environment) {
  const std::string to = engine::rclone_place(address);
  // An earlier save of this step may be there whole: its manifest says nothing of what is to come.
  const Status bare = net::run_rclone({"delete", to, std::string("--include=/") + manifest_name}, environment);
  if (!bare && bare.error().message.find("directory not found") == std::string::npos) {
    return bare;
  }
  // Whole or not there: what is left of an earlier try without a manifest is overwritten, file by file.
  const Status content = net::run_rclone({"sync", "--links", from.string(), to, std::string("--exclude=/") + manifest_name}, environment);
  return content ? net::run_rclone({"copyto", (from / manifest_name).string(), to + "/" + manifest_name}, environment)
                 : content;
}

}  // namespace

Result<std::optional<CheckpointReport>> upload_checkpoint(const fs::path& from, const fs::path& staging,
                                                          const PublishCheckpoint& wanted) {
  Result<std::optional<CheckpointReport>> staged = publish_checkpoint(from, staging, wanted.key, wanted.step);
  if (!staged || !staged.value()) {
    return staged;
  }
  CheckpointReport report = *std::move(staged.value());
  const fs::path place = report.path;
  report.path = checkpoint_place(wanted.root, wanted.key, wanted.step).string();
  if (const Status carried = carry(place, report.path, wanted.storage_environment); !carried) {
    return Error{carried.error().code, "cannot store a checkpoint at " + report.path + ": " + carried.error().message};
  }
  remove_tree(place);
  return std::optional<CheckpointReport>(std::move(report));
}

Status download_checkpoint(const std::string& address, const fs::path& to,
                           const std::map<std::string, std::string>& storage_environment) {
  remove_tree(to);
  if (const Status made = make_directories(to); !made) {
    return made;
  }
  const Status carried =
      net::run_rclone({"copy", "--links", engine::rclone_place(address), to.string()}, storage_environment);
  if (!carried) {
    return Error{carried.error().code, "cannot fetch the checkpoint " + address + ": " + carried.error().message};
  }
  if (const Status whole = verify_checkpoint(to); !whole) {
    return Error{whole.error().code, "the checkpoint " + address + ": " + whole.error().message};
  }
  return Done{};
}

}  // namespace hpsearch::workers

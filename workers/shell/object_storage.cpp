#include "hpsearch/workers/shell/object_storage.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "hpsearch/jobs/remote_storage.hpp"
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

/// Where the manifest of a checkpoint lies on whose content is stored and not here any more: an agent that
/// ends now could not tell, and the next one is asked for it again.
fs::path receipt_of(const fs::path& place) {
  return place.parent_path() / ("." + place.filename().string() + ".stored");
}

Status carry(const fs::path& from, const std::string& address,
             const std::map<std::string, std::string>& environment) {
  const std::string to = jobs::rclone_place(address);
  // An earlier save of this step may be there whole: its manifest says nothing of what is to come.
  const Status bare =
      net::run_rclone({"delete", to, std::string("--include=/") + manifest_name}, environment);
  if (!bare && bare.error().message.find("directory not found") == std::string::npos) {
    return bare;
  }
  // Whole or not there: what is left of an earlier try without a manifest is overwritten, file by file.
  const Status content = net::run_rclone(
      {"sync", "--links", from.string(), to, std::string("--exclude=/") + manifest_name}, environment);
  return content ? net::run_rclone({"copyto", (from / manifest_name).string(), to + "/" + manifest_name},
                                   environment)
                 : content;
}

bool names_one_of(std::string_view said, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [said](std::string_view word) { return said.find(word) != std::string_view::npos; });
}

/// Of what rclone said of a store that is there, for which asking again would not help: not_found, the
/// checkpoint is not; bad_request, it is refused. unavailable: anything else.
Errc reason_of(std::string_view said) {
  const bool refused =
      names_one_of(said, {"AccessDenied", "Access Denied", "Forbidden", "Unauthorized", "InvalidAccessKeyId",
                          "SignatureDoesNotMatch", "AuthenticationFailed", "didn't find", "NoSuchBucket"});
  return refused                                       ? Errc::bad_request
         : names_one_of(said, {"not found", "NoSuch"}) ? Errc::not_found
                                                       : Errc::unavailable;
}

}  // namespace

Result<std::optional<CheckpointReport>> upload_checkpoint(const OwnDirectory& from, const fs::path& staging,
                                                          const PublishCheckpoint& wanted) {
  Result<std::optional<CheckpointReport>> staged = publish_checkpoint(from, staging, wanted.key, wanted.step);
  if (!staged) {
    return staged;
  }
  const fs::path place = checkpoint_place(staging, wanted.key, wanted.step);
  const fs::path receipt = receipt_of(place);
  const std::string address = checkpoint_place(wanted.root, wanted.key, wanted.step).string();
  if (!staged.value()) {
    std::optional<CheckpointReport> stored = told_by(receipt, wanted.step);
    if (stored) {
      stored->path = address;
    }
    return stored;
  }
  CheckpointReport report = *std::move(staged.value());
  report.path = address;
  if (const Status carried = carry(place, report.path, wanted.storage_environment); !carried) {
    return Error{carried.error().code,
                 "cannot store a checkpoint at " + report.path + ": " + carried.error().message};
  }
  if (::rename((place / manifest_name).c_str(), receipt.c_str()) != 0) {
    return file_error("cannot keep what was stored in", receipt, errno);
  }
  if (const Status synced = sync_path(place.parent_path()); !synced) {
    return synced.error();
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
      net::run_rclone({"copy", "--links", jobs::rclone_place(address), to.string()}, storage_environment);
  if (!carried) {
    const std::string& why = carried.error().message;
    return Error{reason_of(why), "cannot fetch the checkpoint " + address + ": " + why};
  }
  if (const Status whole = verify_checkpoint(to); !whole) {
    return Error{whole.error().code, "the checkpoint " + address + ": " + whole.error().message};
  }
  return Done{};
}

}  // namespace hpsearch::workers

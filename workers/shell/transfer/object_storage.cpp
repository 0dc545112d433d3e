#include "hpsearch/workers/shell/transfer/object_storage.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "hpsearch/io/files/tree.hpp"
#include "hpsearch/io/net/rclone.hpp"
#include "hpsearch/jobs/fields/remote_storage.hpp"
#include "hpsearch/workers/shell/transfer/checkpoint_publisher.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::CheckpointReport;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using files::Directory;

namespace {

/// The path of the manifest of a checkpoint whose content is stored and not here any more: an agent that
/// ends before its report leaves it for the next one.
std::string receipt_of(const fs::path& place) {
  return "." + place.filename().string() + ".stored";
}

Status carry(const fs::path& from, const std::string& address,
             const std::map<std::string, std::string>& environment) {
  const std::string to = jobs::rclone_place(address);
  // An earlier save of this step may be complete there: its manifest doesn't describe the new content.
  const Status bare =
      net::run_rclone({"delete", to, std::string("--include=/") + manifest_name}, environment);
  if (!bare && bare.error().message.find("directory not found") == std::string::npos) {
    return bare;
  }
  // Complete or absent: the rest of an earlier try without a manifest is overwritten, file by file.
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

/// The kind of an error of rclone if a retry would not help: not_found, the
/// checkpoint doesn't exist; bad_request, the store refuses. unavailable: any other error.
Errc reason_of(std::string_view said) {
  const bool refused =
      names_one_of(said, {"AccessDenied", "Access Denied", "Forbidden", "Unauthorized", "InvalidAccessKeyId",
                          "SignatureDoesNotMatch", "AuthenticationFailed", "didn't find", "NoSuchBucket"});
  return refused                                       ? Errc::bad_request
         : names_one_of(said, {"not found", "NoSuch"}) ? Errc::not_found
                                                       : Errc::unavailable;
}

}  // namespace

Result<std::optional<CheckpointReport>> upload_checkpoint(const OwnDirectory& from, const Directory& attempt,
                                                          const PublishCheckpoint& wanted) {
  constexpr const char* staging_name = "staging";
  const Result<Directory> own = open_own_directory(from);
  const Status made = own ? attempt.make_directories(staging_name) : Status(own.error());
  const Result<Directory> staging = made ? attempt.directory(staging_name) : made.error();
  if (!staging) {
    return staging.error();
  }
  const fs::path place = checkpoint_place("", wanted.key, wanted.step);
  const std::string name = place.filename().string();
  const std::string receipt = receipt_of(place);
  if (const Result<Directory> before = staging->directory(place.parent_path());
      before && before->has(receipt) && !before->has(place.filename() / manifest_name)) {
    static_cast<void>(files::remove_tree(*before, name).has_value());  // An agent ended before it did that.
  }
  Result<std::optional<CheckpointReport>> staged =
      publish_checkpoint(*own, *staging, wanted.key, wanted.step);
  if (!staged) {
    return staged;
  }
  const std::string address = checkpoint_place(wanted.root, wanted.key, wanted.step).string();
  const Result<Directory> trial = staging->directory(place.parent_path());
  if (!staged.value()) {
    std::optional<CheckpointReport> stored = trial ? report_of(*trial, receipt, wanted.step) : std::nullopt;
    if (stored) {
      stored->path = address;
    }
    return stored;
  }
  if (!trial) {
    return trial.error();
  }
  CheckpointReport report = *std::move(staged.value());
  report.path = address;
  if (const Status carried = carry(trial->name() / name, report.path, wanted.storage_environment); !carried) {
    return Error{carried.error().code,
                 "cannot store a checkpoint at " + report.path + ": " + carried.error().message};
  }
  Status kept = trial->remove(receipt);  // From an earlier save of this step.
  const Result<Directory> stored = kept ? trial->directory(name) : kept.error();
  kept = stored ? files::move_entry(*stored, manifest_name, *trial, receipt) : Status(stored.error());
  if (kept) {
    kept = trial->sync();
  }
  if (!kept) {
    return kept.error();
  }
  static_cast<void>(files::remove_tree(*trial, name).has_value());
  return std::optional<CheckpointReport>(std::move(report));
}

Status download_checkpoint(const std::string& address, const Directory& attempt, const std::string& to,
                           const std::map<std::string, std::string>& storage_environment) {
  Status made = files::remove_tree(attempt, to);
  if (made) {
    made = attempt.make_directory(to);
  }
  const Result<Directory> place = made ? attempt.directory(to) : made.error();
  if (!place) {
    return place.error();
  }
  const Status carried = net::run_rclone(
      {"copy", "--links", jobs::rclone_place(address), place->name().string()}, storage_environment);
  if (!carried) {
    const std::string& why = carried.error().message;
    return Error{reason_of(why), "cannot fetch the checkpoint " + address + ": " + why};
  }
  if (const Status whole = verify_checkpoint(*place); !whole) {
    return Error{whole.error().code, "the checkpoint " + address + ": " + whole.error().message};
  }
  return Done{};
}

}  // namespace hpsearch::workers

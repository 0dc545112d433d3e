#include "daemon/backup/backup_address.hpp"

#include <array>
#include <optional>
#include <utility>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/jobs/fields/remote_storage.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;

struct AddressKind {
  std::string_view scheme;
  std::string_view storage;  ///< As checkpoint_storage.type names it.
};
constexpr std::array address_kinds{AddressKind{"s3://", "s3"}, AddressKind{"gs://", "gcs"},
                                   AddressKind{"azure://", "azure"}};

Error no_address(const std::string& place, const std::string& why) {
  return Error{Errc::bad_request,
               "\"" + place + "\" is no place for backups: " + why +
                   "; it is s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or azure://CONTAINER/PREFIX"};
}

std::string_view without_slashes(std::string_view text) {
  while (text.ends_with('/')) {
    text.remove_suffix(1);
  }
  return text;
}

/// Also an empty part: object stores would take it for a name.
bool has_a_bad_part(std::string_view path) {
  while (true) {
    const std::string_view part = path.substr(0, path.find('/'));
    if (part.empty() || part == "." || part == "..") {
      return true;
    }
    if (part.size() == path.size()) {
      return false;
    }
    path.remove_prefix(part.size() + 1);
  }
}

}  // namespace

bool BackupAddress::is_meant(std::string_view place) noexcept {
  return jobs::is_remote(place);
}

Result<BackupAddress> BackupAddress::read(const std::string& place, const std::string& endpoint_url) {
  for (const AddressKind& kind : address_kinds) {
    if (!place.starts_with(kind.scheme)) {
      continue;
    }
    const std::string path(without_slashes(std::string_view(place).substr(kind.scheme.size())));
    if (path.empty()) {
      return no_address(place, "it names no bucket");
    }
    if (has_a_bad_part(path)) {
      return no_address(place, "a part of its path is empty, `.` or `..`");
    }
    const bool is_url = endpoint_url.starts_with("https://") || endpoint_url.starts_with("http://");
    if (!endpoint_url.empty() && !is_url) {
      return Error{Errc::bad_request,
                   "the endpoint \"" + endpoint_url + "\" is no URL that begins with https:// or http://"};
    }
    if (!endpoint_url.empty() && kind.storage == "gcs") {
      return Error{Errc::bad_request, "an endpoint is for s3:// and azure://, not for " + place};
    }
    jobs::CheckpointStorage storage;
    storage.type = kind.storage;
    if (kind.storage == "azure") {
      storage.container = path;
      storage.account_url = endpoint_url;
    } else {
      storage.bucket = path;
      storage.endpoint_url = endpoint_url;
    }
    std::optional<jobs::RemoteStorage> remote = jobs::remote_storage(storage);
    HPSEARCH_CHECK(remote.has_value(), "each kind of address is one of checkpoint_storage");
    return BackupAddress{std::string(kind.scheme) + path, std::move(remote->environment)};
  }
  return no_address(place, "its scheme is unknown");
}

std::string BackupAddress::place_of(std::string_view below) const {
  return jobs::rclone_place(root) + (below.empty() ? "" : "/") + std::string(below);
}

}  // namespace hpsearch::daemon

#include "hpsearch/jobs/fields/remote_storage.hpp"

#include <algorithm>
#include <utility>

#include "fields/sections.hpp"

namespace hpsearch::jobs {
namespace {

constexpr std::string_view scheme_end = "://";

/// The value of NAME in "NAME=value;NAME2=value2", as Azure spells connections; "" when there is none.
std::string part_of(std::string_view connection, std::string_view name) {
  while (!connection.empty()) {
    const std::string_view part = connection.substr(0, connection.find(';'));
    if (part.starts_with(name) && part.substr(name.size()).starts_with("=")) {
      return std::string(part.substr(name.size() + 1));
    }
    connection.remove_prefix(std::min(connection.size(), part.size() + 1));
  }
  return "";
}

/// "https://account.blob.core.windows.net/" → "account".
std::string account_in(std::string_view url) {
  const std::size_t scheme = url.find(scheme_end);
  url.remove_prefix(scheme == std::string_view::npos ? 0 : scheme + scheme_end.size());
  return std::string(url.substr(0, url.find_first_of("./:")));
}

std::string joined(const std::string& scheme, const std::string& bucket, std::string_view prefix) {
  while (prefix.starts_with('/')) {
    prefix.remove_prefix(1);
  }
  while (prefix.ends_with('/')) {
    prefix.remove_suffix(1);
  }
  return scheme + bucket + (prefix.empty() ? "" : "/") + std::string(prefix);
}

}  // namespace

std::optional<RemoteStorage> remote_storage(const CheckpointStorage& storage) {
  RemoteStorage remote;
  const auto set = [&remote](const char* name, std::string value) {
    if (!value.empty()) {
      remote.environment[std::string("RCLONE_CONFIG_HPSEARCH_") + name] = std::move(value);
    }
  };
  const std::string& type = storage.type;
  // Without keys of its own, a remote uses the machine's: AWS_*, GOOGLE_APPLICATION_CREDENTIALS,
  // AZURE_*.
  if (type == "s3") {
    const std::string key = storage.access_key.value_or("");
    const std::string endpoint = storage.endpoint_url.value_or("");
    set("TYPE", "s3");
    set("PROVIDER", endpoint.empty() ? "AWS" : "Other");
    set("ENDPOINT", endpoint);
    set("ACCESS_KEY_ID", key);
    set("SECRET_ACCESS_KEY", storage.secret_key.value_or(""));
    set("ENV_AUTH", key.empty() ? "true" : "false");
    set("NO_CHECK_BUCKET",
        "true");  // Otherwise rclone tries to create the bucket, and few users may do that.
    remote.root = joined("s3://", storage.bucket, storage.prefix.value_or(""));
  } else if (type == "gcs") {
    set("TYPE", "google cloud storage");
    set("ENV_AUTH", "true");
    set("BUCKET_POLICY_ONLY", "true");
    remote.root = joined("gs://", storage.bucket, storage.prefix.value_or(""));
  } else if (type == "azure") {
    const std::string connection = storage.connection_string.value_or("");
    const std::string url = storage.account_url.value_or("");
    const std::string credential = storage.credential.value_or("");
    set("TYPE", "azureblob");
    set("ACCOUNT", connection.empty() ? account_in(url) : part_of(connection, "AccountName"));
    set("KEY", connection.empty() ? credential : part_of(connection, "AccountKey"));
    set("ENDPOINT", connection.empty() ? url : part_of(connection, "BlobEndpoint"));
    set("ENV_AUTH", connection.empty() && credential.empty() ? "true" : "");
    remote.root = joined("azure://", storage.container, "");
  } else {
    return std::nullopt;
  }
  return remote;
}

std::optional<RemoteStorage> remote_storage(const Value& effective) {
  Findings findings;
  Section section(effective.at_path("checkpoint_storage"), "checkpoint_storage", findings);
  CheckpointStorage storage;
  read_checkpoint_storage(section, storage);
  return remote_storage(storage);
}

bool is_remote(std::string_view place) noexcept {
  return place.find(scheme_end) != std::string_view::npos;
}

std::string rclone_place(std::string_view place) {
  return "hpsearch:" + std::string(place.substr(place.find(scheme_end) + scheme_end.size()));
}

}  // namespace hpsearch::jobs

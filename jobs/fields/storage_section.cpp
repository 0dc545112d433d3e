#include <array>

#include "fields/sections.hpp"
#include "hpsearch/engine/base/quoted.hpp"

namespace hpsearch::jobs {

namespace {

void refuse_climbing(Section& section, std::string_view key) {
  const auto path = section.text(key);
  if (path && climbs(*path)) {
    section.problem(key, "is " + quoted(Value(*path)), "a path without `..`");
  }
}

void need(Section& section, std::string_view key, std::string_view what) {
  const auto text = section.text(key);
  if (!section.has(key) || (text && text->empty())) {
    section.missing(key, std::string(what));
  }
}

// Where one absolute path lies below another, or nothing when it does not.
std::optional<std::string> relative_to(std::string_view parent, std::string_view path) {
  while (parent.size() > 1 && parent.back() == '/') {
    parent.remove_suffix(1);
  }
  if (path.substr(0, parent.size()) != parent) {
    return std::nullopt;
  }
  path.remove_prefix(parent.size());
  if (!path.empty() && path.front() != '/' && parent != "/") {
    return std::nullopt;
  }
  while (!path.empty() && path.front() == '/') {
    path.remove_prefix(1);
  }
  return std::string(path);
}

void read_shared_fs(Section& section, CheckpointStorage& storage) {
  storage.host_path = section.text("host_path").value_or("");
  if (!storage.host_path.empty() && (storage.host_path.front() != '/' || climbs(storage.host_path))) {
    section.problem("host_path", "is " + quoted(Value(storage.host_path)), "an absolute path without `..`");
  }
  storage.storage_path = section.text("storage_path").value_or("");
  if (climbs(storage.storage_path)) {
    section.problem("storage_path", "is " + quoted(Value(storage.storage_path)),
                    "a path without `..`, below host_path");
  } else if (!storage.storage_path.empty() && storage.storage_path.front() == '/') {
    const auto below = relative_to(storage.host_path, storage.storage_path);
    if (storage.host_path.empty() || !below) {
      section.problem(
          "storage_path", "is " + quoted(Value(storage.storage_path)),
          "a path below host_path" +
              (storage.host_path.empty() ? std::string(", which is missing") : ", " + storage.host_path));
    } else {
      storage.storage_path = *below;
    }
  }
  for (const char* key : {"container_path", "checkpoint_path", "tensorboard_path", "propagation"}) {
    section.text(key);
    if (section.has(key)) {
      storage.fields[key] = *section.any(key);
      section.note(key,
                   "has no effect here: programs find their checkpoints at HPSEARCH_CHECKPOINT_DIR, in "
                   "containers too");
    }
  }
}

void read_cloud(Section& section, CheckpointStorage& storage) {
  const std::string& type = storage.type;
  std::vector<std::string_view> fields;
  if (type == "s3") {
    fields = {"access_key", "bucket", "endpoint_url", "prefix", "secret_key"};
    need(section, "bucket", "the name of the bucket");
  } else if (type == "gcs") {
    fields = {"bucket", "prefix"};
    need(section, "bucket", "the name of the bucket");
  } else {
    fields = {"account_url", "connection_string", "container", "credential"};
    need(section, "container", "the name of the container");
    if (!section.has("account_url") && !section.has("connection_string")) {
      section.problem("connection_string", "is missing, and so is account_url",
                      "one of connection_string and account_url");
    } else if (section.has("account_url") && section.has("connection_string")) {
      section.note("account_url", "has no effect: connection_string names the account");
    }
  }
  for (const std::string_view key : fields) {
    if (key == "prefix") {
      refuse_climbing(section, key);
    } else {
      section.text(key);
    }
    if (section.has(key)) {
      storage.fields[key] = *section.any(key);
    }
  }
}

}  // namespace

bool climbs(std::string_view path) noexcept {
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (path.substr(0, slash) == "..") {
      return true;
    }
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return false;
}

void read_checkpoint_storage(Section& section, CheckpointStorage& storage) {
  static constexpr std::array<std::string_view, 4> types = {"shared_fs", "s3", "gcs", "azure"};
  const bool has_type = section.has("type");
  const auto type = section.text_in("type", types);
  storage.type = type.value_or(has_type ? "" : "shared_fs");
  if (storage.type == "shared_fs") {
    read_shared_fs(section, storage);
  } else if (!storage.type.empty()) {
    read_cloud(section, storage);
  }
}

}  // namespace hpsearch::jobs

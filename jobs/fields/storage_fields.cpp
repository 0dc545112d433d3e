#include "hpsearch/jobs/fields/storage_fields.hpp"

#include "fields/sections.hpp"
#include "hpsearch/engine/base/quoted.hpp"

namespace hpsearch::jobs {

namespace {

// The path of `path` below `parent`, both absolute; nothing if it is elsewhere.
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

void make_relative(Section& section, CheckpointStorage& storage) {
  if (!is_absolute(storage.storage_path)) {
    return;
  }
  const auto below = relative_to(storage.host_path, storage.storage_path);
  if (!storage.host_path.empty() && below) {
    storage.storage_path = *below;
    return;
  }
  if (section.has("host_path") && storage.host_path.empty() && !(*section.any("host_path") == Value(""))) {
    return;  // The path already has a problem.
  }
  section.problem("storage_path", "is " + quoted(Value(storage.storage_path)),
                  "a path below host_path" + (storage.host_path.empty() ? std::string(", which is missing")
                                                                        : ", " + storage.host_path));
}

void check_account(Section& section, const CheckpointStorage& storage) {
  if (!section.has("account_url") && !section.has("connection_string")) {
    section.problem("connection_string", "is missing, and so is account_url",
                    "one of connection_string and account_url");
  } else if (storage.account_url && storage.connection_string) {
    section.note("account_url", "has no effect: connection_string names the account");
  }
}

}  // namespace

bool is_absolute_without_dots(std::string_view path) noexcept {
  return path.empty() || (is_absolute(path) && stays_below(path));
}

void read_checkpoint_storage(Section& section, CheckpointStorage& storage) {
  storage.type = section.has("type") ? "" : storage.type;
  engine::read_fields(section, storage_fields, storage);
  with_fields_of(storage.type, [&](const auto& fields) { engine::read_fields(section, fields, storage); });
  if (storage.type == "shared_fs") {
    make_relative(section, storage);
  } else if (storage.type == "azure") {
    check_account(section, storage);
  }
}

Value::Map storage_value(const CheckpointStorage& storage) {
  Value::Map map;
  write_given(storage_fields, storage, map);
  with_fields_of(storage.type, [&](const auto& fields) { write_given(fields, storage, map); });
  return map;
}

}  // namespace hpsearch::jobs

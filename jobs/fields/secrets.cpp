#include "hpsearch/jobs/fields/secrets.hpp"

#include <span>
#include <string_view>
#include <vector>

#include "fields/sections.hpp"

namespace hpsearch::jobs {
namespace {

constexpr std::string_view registry_secrets[] = {"password", "auth", "identitytoken", "registrytoken"};

/// The map below `key`; nothing when there is none.
Value::Map* map_at(Value::Map* members, std::string_view key) {
  Value* found = members != nullptr ? members->find(key) : nullptr;
  return found != nullptr ? found->as_map() : nullptr;
}

void replace_one(Value& member, const std::string& path, const ReplaceSecret& replace) {
  if (const std::string* secret = member.as_text()) {
    member = replace(path, *secret);
  }
}

/// The secret fields of every type of storage.
std::vector<std::string_view> storage_secrets() {
  std::vector<std::string_view> names;
  for (const std::string_view type : storage_types) {
    with_fields_of(type, [&names](const auto& fields) {
      engine::each_field(
          fields, [&names]<class Struct, class Member, class Kind>(const Field<Struct, Member, Kind>& field) {
            if (kind::is_secret<Kind>) {
              names.push_back(field.name);
            }
          });
    });
  }
  return names;
}

void replace_these(Value::Map* section, const std::string& path, std::span<const std::string_view> keys,
                   const ReplaceSecret& replace) {
  for (const std::string_view key : keys) {
    if (Value* secret = section != nullptr ? section->find(key) : nullptr) {
      replace_one(*secret, path_below(path, key), replace);
    }
  }
}

}  // namespace

Value with_secrets(Value config, const ReplaceSecret& replace) {
  Value::Map* top = config.as_map();
  replace_these(map_at(top, "checkpoint_storage"), "checkpoint_storage", storage_secrets(), replace);
  Value::Map* environment = map_at(top, "environment");
  replace_these(map_at(environment, "registry_auth"), "environment.registry_auth", registry_secrets, replace);
  if (Value::Map* variables = map_at(environment, "environment_variables")) {
    Value::Map replaced;
    for (const auto& [name, value] : *variables) {
      Value member = value;
      replace_one(member, path_below("environment.environment_variables", name), replace);
      replaced[name] = std::move(member);
    }
    *variables = std::move(replaced);
  }
  return config;
}

Value without_secrets(Value config) {
  return with_secrets(std::move(config),
                      [](const std::string&, const std::string&) { return Value(hidden_secret); });
}

}  // namespace hpsearch::jobs

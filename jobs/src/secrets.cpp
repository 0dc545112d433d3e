#include "hpsearch/jobs/secrets.hpp"

#include <initializer_list>
#include <string_view>

#include "sections.hpp"

namespace hpsearch::jobs {

namespace {

void hide(Value* section, std::initializer_list<std::string_view> keys) {
  Value::Map* members = section != nullptr ? section->as_map() : nullptr;
  for (const std::string_view key : keys) {
    Value* secret = members != nullptr ? members->find(key) : nullptr;
    if (secret != nullptr && !secret->is_null()) {
      *secret = hidden_secret;
    }
  }
}

}  // namespace

Value without_secrets(Value config) {
  Value::Map* top = config.as_map();
  if (top == nullptr) {
    return config;
  }
  hide(top->find("checkpoint_storage"), {"secret_key", "connection_string", "credential"});
  if (Value* environment = top->find("environment");
      environment != nullptr && environment->as_map() != nullptr) {
    hide(environment->as_map()->find("registry_auth"),
         {"password", "auth", "identitytoken", "registrytoken"});
  }
  return config;
}

}  // namespace hpsearch::jobs

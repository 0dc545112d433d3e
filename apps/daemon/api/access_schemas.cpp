#include "daemon/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

constexpr Field caller_fields[] = {
    {"name", "text", "Token or user, such as \"token ci\" or \"uid 1000\"."},
    {"role", "text"},
};
constexpr Field token_fields[] = {
    {"id", "text"},
    {"name", "text"},
    {"role", "viewer|operator|admin"},
    {"created", "number?"},
    {"expires", "number?", "null: never."},
    {"last_used_day", "number?"},
    {"creator", "text"},
};
constexpr Field new_token_fields[] = {{"token", "text", "The secret. No other answer has it."}};
constexpr Field token_list_fields[] = {{"tokens", "[Token]"}};
constexpr Field revoked_fields[] = {{"revoked", "text", "The token's id."}};
constexpr Field token_request_fields[] = {
    {"name", "text"},
    {"role", "viewer|operator|admin"},
    {"expires_in_seconds?", "number?",
     "Above 0 and up to 31536000; null (never) only for an admin, over the Unix socket. Without it 90 days."},
};

constexpr Schema table[] = {
    {"Caller", "Who sends the requests.", caller_fields},
    {"Token", "A token without its secret.", token_fields},
    {"NewToken", "A token with its secret.", new_token_fields, Schema::Kind::answer, "Token"},
    {"TokenList", "All tokens.", token_list_fields},
    {"RevokedToken", "A token that is revoked.", revoked_fields},
    {"TokenRequest", "The token to create.", token_request_fields, Schema::Kind::body},
};

}  // namespace

std::span<const Schema> access_schemas() noexcept {
  return table;
}

}  // namespace hpsearch::daemon

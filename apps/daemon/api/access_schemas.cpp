#include "daemon/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

constexpr Field caller_fields[] = {
    {"name", "text", "Token or user, such as \"token ci\" or \"uid 1000\"."},
    {"owner", "text", "The name of the same token or user as experiments have it."},
    {"role", "text"},
    {"workspaces", "[text]", "In which it has this role; [\"*\"]: in all."},
};
constexpr Field token_fields[] = {
    {"id", "text"},
    {"name", "text"},
    {"role", "viewer|submitter|operator|admin"},
    {"workspaces", "[text]", "In which it has this role; [\"*\"]: in all."},
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
    {"role", "viewer|submitter|operator|admin"},
    {"workspaces?", "[text]", "In which it has this role, or [\"*\"] for all, as without it."},
    {"expires_in_seconds?", "number?",
     "Above 0 and up to 31536000; null (never) only for an admin, over the Unix socket. Without it 90 days."},
};

constexpr Field audit_fields[] = {
    {"number", "integer", "Lines count from 1."},
    {"time", "number"},
    {"request", "text", "X-Request-Id of the answer."},
    {"channel", "socket|tcp|tls"},
    {"from", "text", "User or address."},
    {"name", "text", "As in Caller; \"\" for strangers."},
    {"token", "text", "Its id, or \"\"."},
    {"role", "text"},
    {"method", "text"},
    {"path", "text"},
    {"status", "integer"},
    {"previous", "text", "SHA-256 of the line before."},
};
constexpr Field audit_page_fields[] = {
    {"entries", "[AuditEntry]"},
    {"next", "integer?", "The next page's `after`; null on the last page."},
};
constexpr Field session_fields[] = {
    {"name", "text", "Of the token or the user."},
    {"role", "viewer|submitter|operator|admin"},
    {"workspaces", "[text]", "In which it has this role; [\"*\"]: in all."},
    {"csrf", "text", "What changes by cookie show in the header X-Hpsearch-CSRF; \"\" without a cookie."},
    {"expires_at", "number?", "When the session ends at the latest; null without a cookie."},
};
constexpr Field sign_in_fields[] = {
    {"token?", "text", "A token, or …"},
    {"code?", "text", "… a code of `hpsearch open`."},
};
constexpr Field code_fields[] = {{"code", "text", "Works once."}, {"expires_in_seconds", "number"}};
constexpr Field port_fields[] = {{"http", "text", "HOST:PORT, or https://HOST:PORT#FINGERPRINT."}};

constexpr Field used_fields[] = {
    {"user?", "text", "Name of a user or token; \"\" = not recorded."},
    {"workspace?", "text"},
    {"experiment?", "text", "Its id."},
    {"slot_seconds", "number"},
    {"slots", "integer", "That are held now."},
    {"experiments", "integer"},
    {"trials", "integer", "Of these experiments, since they began."},
};
constexpr Field usage_fields[] = {
    {"by", "user|workspace|experiment"},
    {"since", "integer", "The start of an hour; 0: the beginning."},
    {"until", "number"},
    {"usage", "[Used]", "The largest first."},
};

constexpr Field quota_fields[] = {
    {"max_slots", "integer?", "Slots in use at once; null: no limit, as in the other fields."},
    {"max_slots_per_user", "integer?", "The same, by experiments of one owner."},
    {"max_active_experiments", "integer?", "Experiments that have not ended."},
    {"max_trials_per_experiment", "integer?", "Trials that a search plans, repeats included."},
};
constexpr Field quota_request_fields[] = {
    {"max_slots?", "integer?", "A field that is missing or null is no limit."},
    {"max_slots_per_user?", "integer?"},
    {"max_active_experiments?", "integer?"},
    {"max_trials_per_experiment?", "integer?"},
};
constexpr Field workspace_fields[] = {
    {"name", "text"},
    {"created", "number?", "null: nobody created it; it is the default one, or experiments named it."},
    {"creator", "text", "Token or user; \"\" = not recorded."},
    {"experiments", "integer"},
    {"active_experiments", "integer", "Those that have not ended."},
    {"slots", "integer", "That its trials hold now."},
    {"quota", "Quota"},
};
constexpr Field workspace_list_fields[] = {{"workspaces", "[Workspace]"}};
constexpr Field workspace_request_fields[] = {
    {"name", "text", "1 to 63 lower-case letters, digits and \"-\", not \"-\" first."}};

constexpr Schema table[] = {
    {"Quota", "Limits of a workspace.", quota_fields},
    {"QuotaRequest", "The limits of a workspace from now on.", quota_request_fields, Schema::Kind::body},
    {"Workspace", "A workspace.", workspace_fields},
    {"WorkspaceList", "All workspaces by name.", workspace_list_fields},
    {"WorkspaceRequest", "The workspace to create.", workspace_request_fields, Schema::Kind::body},
    {"Used", "What one user, workspace or experiment took.", used_fields},
    {"Usage", "Slot time.", usage_fields},
    {"AuditEntry", "A request that changed something, was refused or signed somebody in.", audit_fields},
    {"AuditPage", "A page of the audit log, oldest first.", audit_page_fields},
    {"Session", "A browser that is signed in.", session_fields},
    {"SignIn", "What a browser signs in with: one of the two.", sign_in_fields, Schema::Kind::body},
    {"SignInCode", "A code with which a browser signs in.", code_fields},
    {"HttpPort", "Where browsers reach the daemon.", port_fields},
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

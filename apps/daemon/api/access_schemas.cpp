#include <algorithm>
#include <array>

#include "daemon/api/schema.hpp"
#include "hpsearch/engine/experiment/workspace.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::size_t limit_count = engine::quota_limits.size();
using LimitFields = std::array<Field, limit_count>;

/// A field of that type for each limit of a quota.
constexpr LimitFields fields_of_limits(std::string_view type) {
  LimitFields fields{};
  for (std::size_t i = 0; i < limit_count; ++i) {
    fields[i] = {engine::quota_limits[i].name, type, engine::quota_limits[i].about};
  }
  return fields;
}

/// Their names, with the mark of a field that may be missing.
constexpr auto optional_names = [] {
  std::array<std::array<char, 40>, limit_count> names{};
  for (std::size_t i = 0; i < limit_count; ++i) {
    const std::string_view name = engine::quota_limits[i].name;
    std::copy(name.begin(), name.end(), names[i].begin());
    names[i][name.size()] = '?';
  }
  return names;
}();

constexpr LimitFields optional_limit_fields() {
  LimitFields fields = fields_of_limits("integer?");
  for (std::size_t i = 0; i < limit_count; ++i) {
    fields[i].name = {optional_names[i].data(), fields[i].name.size() + 1};
  }
  return fields;
}

constexpr Field caller_fields[] = {
    {"name", "text", "Token or user, such as \"token ci\" or \"uid 1000\"."},
    {"owner", "text", "The name of the same token or user as experiments show it."},
    {"role", "text", "The role of the caller."},
    {"workspaces", "[text]", "Workspaces in which it has this role; [\"*\"]: all."},
    {"unix_user", "text",
     "The user that runs its programs on workers with `--run-as submitter`; \"\": none."},
};
constexpr Field token_fields[] = {
    {"id", "text", "ID of the token."},
    {"name", "text", "Name of the token."},
    {"role", "viewer|submitter|operator|admin", "Role of the token."},
    {"workspaces", "[text]", "Workspaces in which it has this role; [\"*\"]: all."},
    {"created", "number?", "When it was created; null if unknown."},
    {"expires", "number?", "When it expires; null: never."},
    {"last_used_day", "number?", "Start of the day on which it was used last; null: never used."},
    {"creator", "text", "Token or user that created it."},
    {"unix_user", "text",
     "The user that runs its programs on workers with `--run-as submitter`; \"\": none."},
};
constexpr Field new_token_fields[] = {
    {"token", "text", "The secret. No other answer contains it."},
};
constexpr Field token_list_fields[] = {
    {"tokens", "[Token]", "All tokens, without their secrets."},
};
constexpr Field revoked_fields[] = {
    {"revoked", "text", "ID of the revoked token."},
};
constexpr Field token_request_fields[] = {
    {"name", "text", "Name of the new token."},
    {"role", "viewer|submitter|operator|admin", "Role of the new token."},
    {"workspaces?", "[text]", "Workspaces in which it has this role; [\"*\"] or missing: all."},
    {"expires_in_seconds?", "number?",
     "Life of the token, above 0 and up to 31536000; null (never) only for an admin over the Unix socket; "
     "missing: 90 days."},
    {"unix_user?", "text?",
     "The user that runs its programs on workers with `--run-as submitter`; null or missing: none."},
};

constexpr Field audit_fields[] = {
    {"number", "integer", "Number of the line, from 1."},
    {"time", "number", "When the request was answered."},
    {"request", "text", "`X-Request-Id` of the answer."},
    {"channel", "socket|tcp|tls", "How the request came."},
    {"from", "text", "User or address from which it came."},
    {"name", "text", "Name of the caller; \"\" for strangers."},
    {"token", "text", "ID of the caller's token; \"\" without a token."},
    {"role", "text", "Role of the caller."},
    {"workspace?", "text", "Workspace of what was changed; \"\" if it has none."},
    {"resource?", "text", "What was changed or created, such as `experiments/3`."},
    {"method", "text", "Method of the request."},
    {"path", "text", "Path of the request, cut if it is long."},
    {"status", "integer", "Status of the answer."},
    {"count?", "integer",
     "For a refusal: the number of further refused requests of this address or token within a minute that "
     "the line stands for."},
    {"previous", "text", "SHA-256 of the line before."},
};
constexpr Field audit_page_fields[] = {
    {"entries", "[AuditEntry]", "The lines, oldest first."},
    {"next", "integer?", "The next page's `after`; null on the last page."},
};
constexpr Field session_fields[] = {
    {"name", "text", "Name of the token or the user."},
    {"role", "viewer|submitter|operator|admin", "Role of the session."},
    {"workspaces", "[text]", "Workspaces in which it has this role; [\"*\"]: all."},
    {"makes_tokens", "flag", "Whether the session may create and rotate tokens, if its role allows that."},
    {"page_key", "text",
     "What the browser sends in the header X-Hpsearch-Page-Key with each request, beside its cookie. Only "
     "the answer to a sign-in contains it; elsewhere it is \"\"."},
    {"expires_at", "number?", "When the session ends at the latest; null without a cookie."},
};
constexpr Field sign_in_fields[] = {
    {"token?", "text", "A token; either this or `code`."},
    {"code?", "text", "A code of `hpsearch open`; either this or `token`."},
};
constexpr Field code_request_fields[] = {
    {"makes_tokens?", "flag",
     "Whether the session may create and rotate tokens; only admins may ask for that."},
};
constexpr Field code_fields[] = {
    {"code", "text", "The code, which works once."},
    {"expires_in_seconds", "number", "How long the code works."},
};
constexpr Field port_fields[] = {
    {"http", "text", "`HOST:PORT`, or `https://HOST:PORT#FINGERPRINT`."},
};

constexpr Field used_fields[] = {
    {"user?", "text", "Name of a user or token; \"\": not recorded."},
    {"workspace?", "text", "Name of a workspace."},
    {"experiment?", "text", "ID of an experiment."},
    {"slot_seconds", "number", "Slots times time under lease since `since`."},
    {"slots", "integer", "Number of slots held now."},
    {"experiments", "integer", "Number of experiments."},
    {"trials", "integer", "Number of trials of these experiments, since they began."},
};
constexpr Field usage_fields[] = {
    {"by", "user|workspace|experiment", "What the rows stand for."},
    {"since", "integer", "Start of an hour; 0: the beginning."},
    {"until", "number", "The time of this answer."},
    {"usage", "[Used]", "The rows, largest slot time first."},
};

constexpr LimitFields quota_fields = fields_of_limits("integer?");
constexpr LimitFields quota_request_fields = optional_limit_fields();
constexpr LimitFields quota_use_fields = fields_of_limits("number?");
constexpr Field workspace_fields[] = {
    {"name", "text", "Name of the workspace."},
    {"created", "number?", "When it was created; null: it is the default one, or experiments named it."},
    {"creator", "text", "Token or user that created it; \"\": not recorded."},
    {"experiments", "integer", "Number of its experiments."},
    {"active_experiments", "integer", "Number of its experiments that have not ended."},
    {"slots", "integer", "Number of slots that its trials hold now."},
    {"used", "QuotaUse", "What it uses of each limit."},
    {"quota", "Quota", "Limits of the workspace."},
};
constexpr Field workspace_list_fields[] = {
    {"workspaces", "[Workspace]", "All workspaces that the caller may see, by name."},
};
constexpr Field workspace_request_fields[] = {
    {"name", "text", "1 to 63 lower-case letters, digits and \"-\", not \"-\" first."},
};

constexpr Schema access_table[] = {
    {"Quota", "Limits of a workspace; null: no limit.", quota_fields},
    {"QuotaUse", "What a workspace uses of each limit; null: the limit is for each user or experiment.",
     quota_use_fields},
    {"QuotaRequest", "The limits of a workspace from now on; missing or null: no limit.",
     quota_request_fields, Schema::Kind::body},
    {"Workspace", "A workspace.", workspace_fields},
    {"WorkspaceList", "All workspaces by name.", workspace_list_fields},
    {"WorkspaceRequest", "The workspace to create.", workspace_request_fields, Schema::Kind::body},
    {"Used", "What one user, workspace or experiment took.", used_fields},
    {"Usage", "Slot time.", usage_fields},
    {"AuditEntry", "A request that changed something, was refused or signed somebody in.", audit_fields},
    {"AuditPage", "A page of the audit log, oldest first.", audit_page_fields},
    {"Session", "A browser that is signed in.", session_fields},
    {"SignIn", "What a browser signs in with: one of the two.", sign_in_fields, Schema::Kind::body},
    {"SignInCodeRequest", "The session that the code begins.", code_request_fields, Schema::Kind::body},
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
  return access_table;
}

}  // namespace hpsearch::daemon

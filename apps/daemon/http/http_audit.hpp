#pragma once

#include "daemon/http/http_request_context.hpp"

namespace hpsearch::daemon {

/// Records the call in the audit log if it is a change or a sign-in; the answer waits until the log has it.
/// Refusals (401, 403, 429), and failed requests of unknown callers, are recorded in a log of their own,
/// without waiting. Uploads of workers are not recorded, nor requests that ask for trials, report and tell.
/// `route`: the one that will carry it out; nullptr = it is refused.
///
/// While the log can't be written, a change is refused (507); then the call is answered, and the function
/// returns false.
[[nodiscard]] bool audited(RequestContext& context, Call& call, const Route* route);

/// Records a call that was refused with that status before its body arrived. Its answer does not wait.
void note_refusal(RequestContext& context, const Call& call, unsigned status);

}  // namespace hpsearch::daemon

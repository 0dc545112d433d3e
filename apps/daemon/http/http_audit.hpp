#pragma once

#include "daemon/http/http_request_context.hpp"

namespace hpsearch::daemon {

/// Records the call in the audit log, if it is a change or a sign-in; the answer waits until the log has it.
/// Refusals of callers (401, 403, 429), and what strangers send in vain, are noted in a log of their own, for
/// which nobody waits. What workers hand over is not recorded, nor how clients ask for trials, report and
/// tell. `route`: which it is to have; nullptr = it is refused.
///
/// A change is refused (507) while the log can't be written; then the call is answered, and false is
/// returned.
[[nodiscard]] bool audited(RequestContext& context, Call& call, const Route* route);

/// Records a call that was refused with that status before its body came. Nobody waits for it.
void note_refusal(RequestContext& context, const Call& call, unsigned status);

}  // namespace hpsearch::daemon

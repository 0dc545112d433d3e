#pragma once

#include "daemon/http_request_context.hpp"

namespace hpsearch::daemon {

/// Lets what is answered to the call wait until the audit log has it, if the log records such calls: changes,
/// sign-ins, and refusals of callers (401, 403). What workers hand over is not recorded, nor how clients ask
/// for trials, report and tell. `route`: which it is to have; nullptr = it is refused.
///
/// A change is refused (507) while the log can't be written; then the call is answered, and false is
/// returned.
[[nodiscard]] bool audited(RequestContext& context, Call& call, const Route* route);

/// Records a call that was refused with that status before its body came. Nobody waits for it.
void note_refusal(RequestContext& context, const Call& call, unsigned status);

}  // namespace hpsearch::daemon

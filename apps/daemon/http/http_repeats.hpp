#pragma once

#include "daemon/http/http_request_context.hpp"

namespace hpsearch::daemon {

/// Whether the call must be carried out. With an Idempotency-Key, its answer is then kept for repetitions of
/// the request. False: it is a repetition, and is answered.
[[nodiscard]] bool is_to_be_carried_out(RequestContext& context, const Route& route, Call& call);

}  // namespace hpsearch::daemon

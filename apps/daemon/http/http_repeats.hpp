#pragma once

#include "daemon/http/http_request_context.hpp"

namespace hpsearch::daemon {

/// Whether the call is to be carried out. Under an Idempotency-Key, its answer is then kept for those who
/// repeat the request. False: it is a repetition, and is answered.
[[nodiscard]] bool is_to_be_carried_out(RequestContext& context, const Route& route, Call& call);

}  // namespace hpsearch::daemon

#pragma once

#include <string_view>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/io/http/http.hpp"

namespace hpsearch::net {

inline constexpr std::string_view problem_type = "application/problem+json";

/// The answer to a request that failed, as RFC 9457 describes it: type, title, status, detail, and `errors`
/// if there are any. `error` is {"code", "message", …}; it is a member of the answer too. The server adds
/// `instance`, the id of the request.
[[nodiscard]] HttpResponse http_problem(unsigned status, engine::Value::Map error,
                                        engine::Value::List errors = {});

}  // namespace hpsearch::net

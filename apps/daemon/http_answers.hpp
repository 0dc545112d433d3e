#pragma once

#include <string>

#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/net/http.hpp"

namespace hpsearch::daemon {

// How answers are spelled.

[[nodiscard]] net::HttpResponse with(unsigned status, const engine::Value& value);
[[nodiscard]] net::HttpResponse failure(const engine::Error& error);
[[nodiscard]] net::HttpResponse failure(const std::string& message, const engine::Problems& problems);

/// For who may not do it (401, 403, 429).
[[nodiscard]] net::HttpResponse refusal(unsigned status, const std::string& message);

}  // namespace hpsearch::daemon

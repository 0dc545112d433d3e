#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "daemon/http_request_context.hpp"

namespace hpsearch::daemon {

/// What of each trial goes into a list. A page is made between two decisions, which it must not hold up: it
/// ends when it is long enough, always behind a whole trial, and says behind which one the next begins
/// (?after=N&limit=N).
struct Listing {
  std::string name;  ///< Of the list in the answer.
  std::function<engine::Value::List(const engine::ExperimentRecord&, engine::TrialNumber)> of;
  std::uint64_t most =
      500;  ///< Entries of a page, unless `limit` is less; the last trial may bring some more.
};

/// The page that the call asks for: {next, total, NAME} and `more`. `next` is null on the last one; `total`
/// counts trials.
void answer_page(RequestContext& context, const Call& call, const Listing& listing,
                 const std::function<engine::Value::Map(const engine::ExperimentRecord&)>& more = {});

}  // namespace hpsearch::daemon

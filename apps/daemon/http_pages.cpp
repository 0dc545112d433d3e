#include "daemon/http_pages.hpp"

#include <algorithm>
#include <utility>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;
using engine::TrialNumber;
using engine::Value;

constexpr std::size_t enough_bytes = std::size_t{1} << 20;
constexpr std::uint64_t most_trials_looked_at = 20'000;  // Most may have nothing for the list.

std::string fields_text(const Value::Map& fields) {
  std::string text = engine::compact_json(Value(fields));
  return text.size() <= 2 ? std::string() : text.substr(1, text.size() - 2) + ",";
}

}  // namespace

void answer_page(RequestContext& context, const Call& call, const Listing& listing,
                 const std::function<Value::Map(const engine::ExperimentRecord&)>& more) {
  const auto record = context.experiment(call);
  const auto after = number_of(call.request, "after", 0);
  const auto limit = number_of(call.request, "limit", listing.most);
  for (const Error* error : {record ? nullptr : &record.error(), after ? nullptr : &after.error(),
                             limit ? nullptr : &limit.error()}) {
    if (error != nullptr) {
      context.answer(call, failure(*error));
      return;
    }
  }
  if (*limit == 0) {
    context.answer(call, failure(Error{Errc::bad_request, "limit is 0; it must be at least 1"}));
    return;
  }
  // Numbers have no gaps, and no trial is ever removed.
  const std::uint64_t total = (*record)->trials.size();
  const bool from_start = call.request.query_or("after", {}).empty();
  const std::uint64_t first = from_start ? 0 : *after < total ? *after + 1 : total;
  const std::uint64_t most = std::min(*limit, listing.most);
  std::string list;
  std::uint64_t entries = 0;
  std::uint64_t number = first;
  while (number < total && entries < most && list.size() < enough_bytes &&
         number - first < most_trials_looked_at) {
    for (const Value& entry : listing.of(**record, TrialNumber(number))) {
      list.append(list.empty() ? "" : ",").append(engine::compact_json(entry));
      ++entries;
    }
    ++number;
  }
  const std::string next = number < total ? std::to_string(number - 1) : "null";
  net::HttpResponse page;
  page.status = 200;
  page.body = "{" + (more ? fields_text(more(**record)) : std::string()) + "\"next\":" + next +
              ",\"total\":" + std::to_string(total) + ",\"" + listing.name + "\":[" + list + "]}\n";
  context.answer(call, std::move(page));
}

}  // namespace hpsearch::daemon

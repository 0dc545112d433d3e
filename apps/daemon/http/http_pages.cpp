#include "daemon/http/http_pages.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::daemon {
namespace {

using engine::TrialNumber;

// Encoding this much takes the loop some milliseconds (docs/benchmarks.md, turns of the loop).
constexpr std::size_t enough_bytes = std::size_t{128} << 10;
constexpr std::uint64_t most_trials_looked_at = 20'000;  // Most trials may have no entry for the list.

std::string fields_text(const Value::Map& fields) {
  std::string text = engine::compact_json(Value(fields));
  return text.size() <= 2 ? std::string() : text.substr(1, text.size() - 2) + ",";
}

Error limit_is_zero() {
  return Error{Errc::bad_request, "limit is 0; it must be at least 1"};
}

/// The position of an entry of a trial.
struct Position {
  std::uint64_t trial = 0;
  std::uint64_t place = 0;
};

/// Where the page after `after` begins; "" = at the start.
engine::Result<Position> first_behind(std::string_view after) {
  if (after.empty()) {
    return Position{};
  }
  const std::size_t dot = after.find('.');
  const auto trial = read_number(after.substr(0, dot));
  const auto place =
      dot == std::string_view::npos ? std::optional<std::uint64_t>(0) : read_number(after.substr(dot + 1));
  if (!trial || !place) {
    return Error{Errc::bad_request, "after is \"" + std::string(after) +
                                        "\"; it has to be a whole number, or what `next` of a page says"};
  }
  const bool is_last = *trial == std::numeric_limits<std::uint64_t>::max();
  return dot == std::string_view::npos ? Position{is_last ? *trial : *trial + 1, 0}
                                       : Position{*trial, *place};
}

}  // namespace

void answer_page(RequestContext& context, const Call& call, const Listing& listing,
                 const std::function<Value::Map(const engine::ExperimentRecord&)>& more) {
  const auto record = context.experiment(call);
  const auto first = first_behind(call.request.query_or("after", {}));
  const auto limit = number_of(call.request, "limit", listing.most);
  if (const Error* error = first_error(record, first, limit)) {
    context.answer(call, failure(*error));
    return;
  }
  if (*limit == 0) {
    context.answer(call, failure(limit_is_zero()));
    return;
  }
  // Trial numbers have no gaps, and trials are never removed.
  const std::uint64_t total = (*record)->trials.size();
  const std::uint64_t most = std::min(*limit, listing.most);
  std::string list;
  std::uint64_t entries = 0;
  std::uint64_t looked_at = 0;
  const auto takes_more = [&] { return entries < most && list.size() < enough_bytes; };
  Position at = first->trial < total ? *first : Position{total, 0};
  while (at.trial < total && takes_more() && looked_at < most_trials_looked_at) {
    const TrialNumber number(at.trial);
    const std::size_t count = listing.count(**record, number);
    for (; at.place < count && takes_more(); ++at.place) {
      list.append(list.empty() ? "" : ",");
      list.append(engine::compact_json(listing.entry(**record, number, at.place)));
      ++entries;
    }
    if (at.place >= count) {
      at = {at.trial + 1, 0};
    }
    ++looked_at;
  }
  const std::string next = at.place > 0
                               ? "\"" + std::to_string(at.trial) + "." + std::to_string(at.place) + "\""
                           : at.trial < total ? std::to_string(at.trial - 1)
                                              : "null";
  net::HttpResponse page;
  page.status = 200;
  page.body = "{" + (more ? fields_text(more(**record)) : std::string()) + "\"next\":" + next +
              ",\"total\":" + std::to_string(total) + ",\"" + listing.name + "\":[" + list + "]}\n";
  context.answer(call, std::move(page));
}

engine::Result<NumberedPage> NumberedPage::of(const Call& call, std::string name, std::uint64_t most) {
  const auto after = number_of(call.request, "after", 0);
  const auto limit = number_of(call.request, "limit", most);
  if (!after || !limit) {
    return after ? limit.error() : after.error();
  }
  if (*limit == 0) {
    return limit_is_zero();
  }
  NumberedPage page;
  page.name_ = std::move(name);
  page.after_ = *after;
  page.most_ = std::min(*limit, most);
  return page;
}

bool NumberedPage::takes_more() const noexcept {
  return entries_ < most_ && list_.size() < enough_bytes;
}

void NumberedPage::add(std::uint64_t number, const Value& entry) {
  list_.append(list_.empty() ? "" : ",").append(engine::compact_json(entry));
  last_ = number;
  ++entries_;
}

net::HttpResponse NumberedPage::answer(bool more) const {
  net::HttpResponse page;
  page.status = 200;
  page.body =
      "{\"" + name_ + "\":[" + list_ + "],\"next\":" + (more ? std::to_string(last_) : "null") + "}\n";
  return page;
}

}  // namespace hpsearch::daemon

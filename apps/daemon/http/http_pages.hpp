#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "daemon/http/http_request_context.hpp"

namespace hpsearch::daemon {

/// How the entries of each trial are put into a list. A page is made between two decisions, which must not
/// wait for it: it ends when it is long enough, and names where the next page begins (?after=N&limit=N): a
/// trial's number, or "TRIAL.PLACE" if it ends after this many entries of a trial.
struct Listing {
  std::string name;  ///< Name of the list in the answer.
  std::function<std::size_t(const engine::ExperimentRecord&, engine::TrialNumber)> count;
  std::function<engine::Value(const engine::ExperimentRecord&, engine::TrialNumber, std::size_t place)> entry;
  std::uint64_t most = 500;  ///< Entries of a page, unless `limit` is less.
};

/// The page that the call requests: {next, total, NAME} and `more`. `next` is null on the last one; `total`
/// counts trials.
void answer_page(RequestContext& context, const Call& call, const Listing& listing,
                 const std::function<engine::Value::Map(const engine::ExperimentRecord&)>& more = {});

/// One page of a list of numbered items: those after ?after=N, at most ?limit=N of them, until it is long
/// enough. Its answer is {NAME, next}: the number after which the next page begins, null on the last one.
class NumberedPage {
 public:
  /// bad_request: the query is wrong.
  [[nodiscard]] static engine::Result<NumberedPage> of(const Call& call, std::string name,
                                                       std::uint64_t most = 500);

  [[nodiscard]] std::uint64_t after() const noexcept { return after_; }
  [[nodiscard]] bool takes_more() const noexcept;
  void add(std::uint64_t number, const engine::Value& entry);
  /// `more`: there are items after the last one that was added.
  [[nodiscard]] net::HttpResponse answer(bool more) const;

 private:
  std::string name_;
  std::uint64_t after_ = 0;
  std::uint64_t most_ = 0;
  std::uint64_t entries_ = 0;
  std::uint64_t last_ = 0;
  std::string list_;
};

}  // namespace hpsearch::daemon

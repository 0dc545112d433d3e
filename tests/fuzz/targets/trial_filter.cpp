#include "hpsearch/proto/views/trial_filter.hpp"

#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"

// What people write behind --where. It is a condition with names that can be asked of any trial, or an error
// that says what belongs where.

namespace hpsearch::fuzz {
namespace {

void run_trial_filter(std::string_view bytes) {
  const auto filter = views::TrialFilter::read(bytes);
  if (!filter) {
    HPSEARCH_CHECK(!filter.error().message.empty(), "an error has a reason");
    return;
  }
  HPSEARCH_CHECK(!filter->names().empty(), "a condition is about something");
  for (const engine::Value& value : {engine::Value(), engine::Value(1), engine::Value(0.5),
                                     engine::Value("x"), engine::Value(engine::Value::List{1, 2})}) {
    const auto lookup = [&value](const std::string&) { return value; };
    HPSEARCH_CHECK(filter->holds(lookup) == filter->holds(lookup), "the same trial is judged the same");
  }
}

Seeds trial_filter_seeds() {
  return {"lr<0.01 and (state=COMPLETED or metric>=0.9) and not optimizer.name='sgd'",
          "a=1 or b!=none and not(c<=-1e-3)", "((((x==true))))", "not not not x > \"quoted text\""};
}

const Registered trial_filter_target({"trial_filter", run_trial_filter, trial_filter_seeds});

}  // namespace
}  // namespace hpsearch::fuzz

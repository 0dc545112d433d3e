#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "daemon/http/http_request_context.hpp"
#include "hpsearch/proto/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

/// Streams changes to pages and views that stay open.
void stream(RequestContext& context, Call call) {
  auto topics = read_topics(call.request.query_or("topics", {}));
  if (!topics) {
    call.reply(failure(topics.error()));
    return;
  }
  for (TopicName& topic : *topics) {
    topic.language = call.language();
    if (topic.experiment == engine::ExperimentId{}) {
      topic.scope = call.caller.scope;
      continue;
    }
    const engine::ExperimentRecord* record = context.runtime.engine().find(topic.experiment);
    if (record == nullptr || !may_see(call.caller, *record)) {
      call.reply(failure(context.missing(call.caller, topic.experiment)));
      return;
    }
  }
  call.reply(context.streams->open.open(
      call.request, [&context, topics = *topics](const std::shared_ptr<net::HttpBody>& body) {
        context.streams->topics.follow(body, topics);
      }));
}

constexpr QueryParameter stream_query[] = {
    {"topics", QueryParameter::Kind::text,
     "What to follow, a list with commas: experiments, experiment:NUMBER, trials:NUMBER, workers, cluster."}};

constexpr Route stream_table[] = {
    {"GET",
     "/api/v1/stream",
     Role::viewer,
     &stream,
     {"stream_changes", "streams", "Streams what changes, at most four messages a second for each topic",
      nullptr, nullptr, 200, "text/event-stream"},
     stream_query},
};

}  // namespace

std::span<const Route> stream_routes() noexcept {
  return stream_table;
}

}  // namespace hpsearch::daemon

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "daemon/http_request_context.hpp"

namespace hpsearch::daemon {
namespace {

/// What changes, for pages and views that stay open.
void stream(RequestContext& context, Call call) {
  const auto topics = read_topics(call.request.query_or("topics", {}));
  if (!topics) {
    call.reply(failure(topics.error()));
    return;
  }
  for (const TopicName& topic : *topics) {
    if (topic.experiment != engine::ExperimentId{} &&
        context.runtime.engine().find(topic.experiment) == nullptr) {
      call.reply(failure(engine::Error{
          engine::Errc::not_found, "there is no experiment " + std::to_string(topic.experiment.number())}));
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

constexpr Route table[] = {
    {"GET",
     "/api/v1/stream",
     Role::viewer,
     &stream,
     {"stream_changes", "streams", "Streams what changes, at most four messages a second for each topic", "",
      "", 200, "text/event-stream"},
     stream_query},
};

}  // namespace

std::span<const Route> stream_routes() noexcept {
  return table;
}

}  // namespace hpsearch::daemon

#include "daemon/http/http_lanes.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "daemon/http/http_pieces.hpp"
#include "daemon/http/http_request_context.hpp"

namespace hpsearch::daemon {
namespace {

constexpr FairQueue::Bounds of_experiments{.running = most_experiment_reads, .running_of_one = 2};
constexpr FairQueue::Bounds of_logs{.running = most_log_searches, .running_of_one = 2};
constexpr FairQueue::Bounds of_checkpoints{.running = most_checkpoint_reads, .running_of_one = 2};
// The daemon checks configurations on two threads.
constexpr FairQueue::Bounds of_checks{.running = 2, .running_of_one = 1, .waiting_of_one = 128};

Lane lane_of(const Route& route, const Call& call) {
  const auto is_given = [&call](std::string_view name) { return !call.request.query_or(name, {}).empty(); };
  const auto& names = route.queued.only_with;
  return names.empty() || std::any_of(names.begin(), names.end(), is_given) ? route.queued.lane : Lane::none;
}

net::HttpResponse too_many_wait() {
  net::HttpResponse response =
      failure(Error{Errc::unavailable, "too many requests for long answers wait; try again"});
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace

Lanes::Lanes(net::Timeline& timeline)
    : queues_{FairQueue(timeline, of_experiments), FairQueue(timeline, of_logs),
              FairQueue(timeline, of_checkpoints), FairQueue(timeline, of_checks)} {
}

void carry_out_in_turn(RequestContext& context, const Route& route, Call call) {
  const Lane lane = lane_of(route, call);
  if (lane == Lane::none) {
    route.handler(context, std::move(call));
    return;
  }
  // Long answers wait for the disk, and would keep the lane busy until it has room again.
  if (lane != Lane::checks && context.runtime.stalled()) {
    call.reply(no_room(context.runtime.storage()));
    return;
  }
  FairQueue& queue = context.lanes->of(lane);
  const std::string client = key_owner(call.caller);
  if (!queue.has_room(client)) {
    call.reply(too_many_wait());
    return;
  }
  call.leave_lane = [&queue, client, has_left = std::make_shared<bool>(false)] {
    if (!std::exchange(*has_left, true)) {
      queue.done(client);
    }
  };
  call.reply = [&queue, client, leave = call.leave_lane,
                reply = std::move(call.reply)](net::HttpResponse response) {
    const std::size_t bytes = response.stream ? most_unsent_in_pieces : response.body.size();
    response.held.push_back(queue.hold(client, bytes));
    leave();
    reply(std::move(response));
  };
  queue.add(client, [&context, handler = route.handler, call = std::move(call)] { handler(context, call); });
}

}  // namespace hpsearch::daemon

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "cli/client/answers.hpp"
#include "cli/client/interrupts.hpp"
#include "cli/client/live_stream.hpp"
#include "cli/client/which.hpp"
#include "cli/events/event_line.hpp"
#include "cli/render/progress_view.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "cli/watch/full_screen.hpp"
#include "cli/watch/watch_screen.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds patience{100};
constexpr std::chrono::seconds between_drawings{1};
constexpr std::chrono::seconds between_curves{2};
constexpr std::size_t most_decisions = 100;

/// A search, as its streams describe it.
class Watch {
 public:
  Watch(const Client& client, std::uint64_t experiment, api::Experiment detail)
      : client_(client),
        experiment_(experiment),
        story_(detail.unit, detail.metric),
        changes_(client, "/api/v1/stream?topics=experiment:" + std::to_string(experiment) + ",workers"),
        events_(client, "/api/v1/events?without=report_taken&experiment=" + std::to_string(experiment)) {
    search_.detail = std::move(detail);
  }

  [[nodiscard]] const WatchedSearch& search() const noexcept { return search_; }
  [[nodiscard]] bool over() const { return story_.ended() && engine::is_ended(search_.detail.state); }

  /// Reads what arrives within a moment. `on_line` gets each line of the story.
  template <class OnLine>
  [[nodiscard]] std::optional<Failure> take(const OnLine& on_line) {
    const auto events = events_.next(patience);
    if (!events) {
      return events.failure();
    }
    for (const net::StreamMessage& message : *events) {
      const auto event = proto::parse_json(message.data);
      if (message.event.empty() || message.event == "bye" || !event) {
        continue;
      }
      const auto line = event_line(story_, *event);
      if (!line.text.empty()) {
        search_.decisions.push_back({line.text, line.trouble});
        on_line(search_.decisions.back());
      }
      if (search_.decisions.size() > most_decisions) {
        search_.decisions.pop_front();
      }
    }
    const auto changes = changes_.next(events->empty() ? patience : milliseconds(0));
    if (!changes) {
      return changes.failure();
    }
    for (const net::StreamMessage& message : *changes) {
      if (const auto change = proto::parse_json(message.data); change) {
        take_change(*change);
      }
    }
    search_.away = !changes_.connected();
    return std::nullopt;
  }

  /// Reads the curve of the best trial now and then: streams have no metrics.
  void read_curve() {
    const auto& best = search_.detail.best;
    const auto now = steady_clock::now();
    if (!best || now < curve_at_ || search_.away) {
      return;
    }
    curve_at_ = now + between_curves;
    const std::string target =
        experiment_target(experiment_, "/trials/" + std::to_string(best->trial.number()) + "/metrics");
    std::vector<std::pair<double, double>> curve;
    std::string after;
    for (;;) {
      const auto page = read_as<api::MetricPage>(client_.get(target + after));
      if (!page) {
        return;
      }
      for (const api::MetricPoint& report : page->metrics) {
        const auto metric = report.metrics.find(search_.detail.metric);
        if (metric == report.metrics.end() || !std::isfinite(metric->second.value)) {
          continue;
        }
        const auto step = static_cast<double>(engine::count(report.step));
        while (!curve.empty() && curve.back().first >= step) {
          curve.pop_back();  // The later attempt counts.
        }
        curve.emplace_back(step, metric->second.value);
      }
      if (!page->next) {
        break;
      }
      after = "?after=" + *page->next;
    }
    search_.curve = std::move(curve);
  }

 private:
  void take_change(const Value& change) {
    if (auto detail = read_as<api::Experiment>(member(change, "experiment"))) {
      search_.detail = *std::move(detail);
    }
    for (const Value& one : list_at(change, "workers")) {
      const auto worker = read_as<api::Worker>(one);
      if (!worker) {
        continue;
      }
      const auto same = std::find_if(search_.workers.begin(), search_.workers.end(),
                                     [&](const api::Worker& known) { return known.id == worker->id; });
      if (same != search_.workers.end()) {
        *same = *worker;
      } else {
        search_.workers.push_back(*worker);
      }
    }
  }

  const Client& client_;
  std::uint64_t experiment_;
  WatchedSearch search_;
  sentences::EventStory story_;
  LiveStream changes_;
  LiveStream events_;
  steady_clock::time_point curve_at_;
};

/// Runs until the user quits; the end of the search stays on the screen.
std::optional<Failure> watch_on_screen(Watch& watch, FullScreen& screen, const Interrupts& interrupts) {
  auto next_drawing = steady_clock::now();
  while (interrupts.count() == 0) {
    if (auto failure = watch.take([](const WatchedSearch::Line&) {})) {
      return failure;
    }
    const auto now = steady_clock::now();
    if (now >= next_drawing) {
      next_drawing = now + between_drawings;
      watch.read_curve();
      screen.draw(watch_screen(watch.search(), screen.width(), screen.height(), seconds_now()));
    }
    const char key = screen.key(milliseconds(1));
    if (key == 'q' || key == 'Q') {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

/// Prints lines until the search has ended.
std::optional<Failure> watch_as_lines(Watch& watch, const Interrupts& interrupts, const Output& output) {
  ProgressView view(output);
  while (interrupts.count() == 0 && !watch.over()) {
    auto failure = watch.take([&](const WatchedSearch::Line& line) { view.say(line.text, line.trouble); });
    if (failure) {
      return failure;
    }
    view.show(watch.search().detail);
  }
  view.clear();
  return std::nullopt;
}

}  // namespace

int watch(const ExperimentOptions& options, const Output& output) {
  const Outcome<Reached> reached =
      reach_experiment(options.server, options.experiment, Server::Need::running, output);
  if (!reached) {
    return output.fail(reached.failure());
  }
  const Client& client = reached->server.client();
  auto detail = read_as<api::Experiment>(client.get(experiment_target(reached->experiment)));
  if (!detail) {
    return output.fail(detail.failure());
  }
  const Interrupts interrupts;
  Watch watch(client, reached->experiment, std::move(*detail));
  std::unique_ptr<FullScreen> screen = output.live() ? FullScreen::open(output.colored()) : nullptr;
  std::optional<Failure> failure = screen != nullptr ? watch_on_screen(watch, *screen, interrupts)
                                                     : watch_as_lines(watch, interrupts, output);
  screen.reset();
  if (failure) {
    return output.fail(*failure);
  }
  return static_cast<int>(interrupts.count() > 0 ? Exit::interrupted : Exit::ok);
}

}  // namespace hpsearch::cli

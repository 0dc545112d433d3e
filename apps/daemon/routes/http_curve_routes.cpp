#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/http/http_request_context.hpp"
#include "hpsearch/proto/api/charts.hpp"
#include "hpsearch/proto/api/schema.hpp"
#include "hpsearch/proto/views/curves.hpp"
#include "hpsearch/proto/views/metric_names.hpp"
#include "hpsearch/proto/views/trial_fields.hpp"

namespace hpsearch::daemon {
namespace {

using engine::TrialNumber;

// The store commits nothing while it reads: a few milliseconds.
constexpr std::size_t reports_at_once = 8'000;
constexpr std::size_t trials_at_once = 8;

net::HttpResponse json_answer(std::string body) {
  net::HttpResponse response;
  response.body = std::move(body) + "\n";
  return response;
}

views::CurveValue value_of(const CurvePoint& point) {
  return {point.attempt, point.step, point.at, point.value};
}

/// Reads curves of some trials from the store in short jobs. Owned by what it has posted; the store's thread
/// and the loop use it in turns.
class PointsRead : public std::enable_shared_from_this<PointsRead> {
 public:
  PointsRead(RequestContext& context, Call call, views::Curves curves, std::string metric, std::size_t points)
      : context_(context),
        call_(std::move(call)),
        curves_(std::move(curves)),
        metric_(std::move(metric)),
        points_(points) {}

  void go_on() {
    if (next_ == curves_.curves.size()) {
      context_.answer_beside(
          call_, [self = shared_from_this()] { return json_answer(to_json(self->curves_, self->points_)); });
      return;
    }
    context_.read(call_, [self = shared_from_this()](EventStore& store) -> Committer::Then {
      engine::Status read = self->read_some(store);
      return [self, read = std::move(read)] {
        if (!read) {
          self->call_.reply(failure(read.error()));
          return;
        }
        self->go_on();
      };
    });
  }

 private:
  engine::Status read_some(EventStore& store) {
    std::size_t left = reports_at_once;
    for (std::size_t trials = 0; trials < trials_at_once && next_ < curves_.curves.size(); ++trials) {
      views::Curve& curve = curves_.curves[next_];
      auto page = store.curves(call_.experiment(), metric_, {curve.trial, behind_}, curve.trial, left);
      if (!page) {
        return page.error();
      }
      for (const CurvePoint& point : page->points) {
        curve.values.push_back(value_of(point));
      }
      if (page->next) {
        behind_ = page->next->report;
        return engine::Done{};
      }
      const auto history = store.history(call_.experiment(), curve.trial);
      if (!history) {
        return history.error();
      }
      curve.events = views::curve_events(*history);
      left -= std::min(left - 1, page->points.size());
      behind_ = {};
      ++next_;
    }
    return engine::Done{};
  }

  RequestContext& context_;
  Call call_;
  views::Curves curves_;
  std::string metric_;
  std::size_t points_;
  std::size_t next_ = 0;  // Index of the next curve.
  MetricPosition behind_;
};

/// Reads all values of a metric likewise; it stores all of them, 8 bytes each.
class DensityRead : public std::enable_shared_from_this<DensityRead> {
 public:
  DensityRead(RequestContext& context, Call call, std::string metric, TrialNumber last,
              views::CurveDensity density)
      : context_(context),
        call_(std::move(call)),
        metric_(std::move(metric)),
        last_(last),
        density_(std::move(density)) {}

  void go_on() {
    context_.read(call_, [self = shared_from_this()](EventStore& store) -> Committer::Then {
      auto page =
          store.curves(self->call_.experiment(), self->metric_, self->behind_, self->last_, reports_at_once);
      if (page) {
        self->take(*page);
      }
      return [self, page = std::move(page)] {
        if (!page) {
          self->call_.reply(failure(page.error()));
        } else if (page->next) {
          self->go_on();
        } else {
          self->finish();
        }
      };
    });
  }

 private:
  void take(const CurvePage& page) {
    for (const CurvePoint& point : page.points) {
      if (point.trial != trial_) {
        density_.add(std::exchange(values_, {}));
        trial_ = point.trial;
      }
      values_.push_back(value_of(point));
    }
    behind_ = page.next.value_or(CurvePosition{});
  }
  void finish() {
    density_.add(std::exchange(values_, {}));
    context_.reads->run([self = shared_from_this()]() -> net::Background::Afterwards {
      auto response = std::make_shared<net::HttpResponse>(json_answer(self->density_.json(self->metric_)));
      return [self, response] { self->call_.reply(std::move(*response)); };
    });
  }

  RequestContext& context_;
  Call call_;
  std::string metric_;
  TrialNumber last_;
  views::CurveDensity density_;
  CurvePosition behind_;
  TrialNumber trial_;
  std::vector<views::CurveValue> values_;  // The values of trial_.
};

/// "1,2,17"
Result<std::vector<TrialNumber>> trials_in(std::string_view list, std::size_t there_are) {
  std::vector<TrialNumber> trials;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    const auto number = read_number(list.substr(begin, comma - begin));
    if (!number || *number >= there_are) {
      return Error{Errc::bad_request, "trials: \"" + std::string(list.substr(begin, comma - begin)) +
                                          "\" is not the number of a trial of this experiment"};
    }
    trials.emplace_back(*number);
    begin = comma + 1;
  }
  std::sort(trials.begin(), trials.end());
  trials.erase(std::unique(trials.begin(), trials.end()), trials.end());
  if (trials.size() > views::most_curves) {
    return Error{Errc::bad_request, "trials: at most " + std::to_string(views::most_curves) + " are allowed"};
  }
  return trials;
}

/// "0,1.5"
Result<std::optional<std::pair<double, double>>> range_of(std::string_view text) {
  using Range = std::optional<std::pair<double, double>>;
  if (text.empty()) {
    return Range();
  }
  const std::size_t comma = std::min(text.find(','), text.size());
  const auto low = read_real(text.substr(0, comma));
  const auto high = comma < text.size() ? read_real(text.substr(comma + 1)) : std::nullopt;
  if (!low || !high || !(*low < *high)) {
    return Error{Errc::bad_request, "range is \"" + std::string(text) +
                                        "\"; it has to be two numbers, the lower one first: 0,1.5"};
  }
  return Range(std::pair(*low, *high));
}

/// Lengths of all brackets, each once, ascending: a curve's rung is an index into them, for every metric and
/// at any time.
std::vector<engine::TrialTally::Rung> lengths_of(const views::RungLadder& ladder) {
  std::set<engine::Units> lengths;
  for (const views::RungLadder::Bracket& bracket : ladder.brackets) {
    for (const views::RungLadder::Rung& rung : bracket.rungs) {
      lengths.insert(rung.length);
    }
  }
  std::vector<engine::TrialTally::Rung> rungs;
  for (const engine::Units length : lengths) {
    rungs.push_back({length, 0});
  }
  return rungs;
}

void points(RequestContext& context, const Call& call, const engine::ExperimentRecord& record,
            const std::string& metric) {
  const std::string_view list = call.request.query_or("trials", {});
  const auto trials = list.empty() ? Result<std::vector<TrialNumber>>(views::shown_trials(record))
                                   : trials_in(list, record.trials.size());
  const auto most = number_of(call.request, "points", 200);
  if (const Error* error = first_error(trials, most)) {
    context.answer(call, failure(*error));
    return;
  }
  views::Curves curves;
  curves.metric = metric;
  curves.group = views::metric_group(metric);
  curves.unit = record.config.unit;
  curves.lsn = context.runtime.engine().last_lsn();
  curves.ladder = views::rung_ladder(record, curves.lsn, context.runtime.engine().last_instant());
  const auto lengths = lengths_of(curves.ladder);
  for (const TrialNumber trial : *trials) {
    const engine::TrialRecord& its = record.trials[static_cast<std::size_t>(trial.number())];
    views::Curve curve;
    curve.trial = trial;
    curve.state = its.state;
    curve.rung = views::rung_reached(lengths, static_cast<double>(engine::count(its.reached)));
    curves.curves.push_back(std::move(curve));
  }
  std::make_shared<PointsRead>(context, call, std::move(curves), metric, static_cast<std::size_t>(*most))
      ->go_on();
}

void density(RequestContext& context, const Call& call, const engine::ExperimentRecord& record,
             const std::string& metric) {
  const auto range = range_of(call.request.query_or("range", {}));
  const auto bins = number_of(call.request, "bins", views::most_density_bins);
  if (const Error* error = first_error(range, bins)) {
    context.answer(call, failure(*error));
    return;
  }
  const TrialNumber last(record.trials.empty() ? 0 : record.trials.size() - 1);
  std::make_shared<DensityRead>(context, call, metric, last,
                                views::CurveDensity(static_cast<std::size_t>(*bins), *range))
      ->go_on();
}

void curves(RequestContext& context, Call call) {
  const auto record = context.experiment(call);
  if (!record) {
    context.answer(call, failure(record.error()));
    return;
  }
  const std::string group(call.request.query_or("group", {}));
  std::string metric(call.request.query_or("metric", (*record)->config.searcher.metric));
  if (!group.empty() && metric.find('.') == std::string::npos) {
    metric = group + "." + metric;
  }
  if (call.request.query_or("mode", "points") == "density") {
    density(context, call, **record, metric);
  } else {
    points(context, call, **record, metric);
  }
}

constexpr std::string_view modes[] = {"points", "density"};
constexpr QueryParameter curves_query[] = {
    {"metric", QueryParameter::Kind::text, "Its name; without it, the searcher's metric."},
    {"group", QueryParameter::Kind::text, "What stands before the name: GROUP.METRIC."},
    {"trials", QueryParameter::Kind::text,
     "Numbers with commas between; without them, the best, the running and some."},
    {"points", QueryParameter::Kind::whole_number, "Of a curve, at most.", 2, views::most_curve_points},
    {"mode", QueryParameter::Kind::choice, "Single curves, or where the values of all trials lie.", 0, 0,
     modes},
    {"range", QueryParameter::Kind::text, "Of a density: LOW,HIGH."},
    {"bins", QueryParameter::Kind::whole_number, "Of a density, in each direction.", 2,
     views::most_density_bins},
};

constexpr Route curve_table[] = {
    {"GET",
     "/api/v1/experiments/{experiment}/curves",
     Role::viewer,
     &curves,
     {"get_curves", "bulk", "Shows learning curves",
      api::schema_of<std::variant<api::Curves, api::CurveDensity>>},
     curves_query,
     true,
     Reach::usual,
     {Lane::experiments}},
};

}  // namespace

std::span<const Route> curve_routes() noexcept {
  return curve_table;
}

}  // namespace hpsearch::daemon

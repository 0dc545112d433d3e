#include "daemon/http/column_read.hpp"

#include <memory>
#include <utility>

#include "hpsearch/proto/views/event_subject.hpp"

namespace hpsearch::daemon {
namespace {

// A cell takes 20 to 100 ns: a turn is about 2 ms (docs/benchmarks.md, bulk reads).
constexpr std::size_t cells_per_turn = 30'000;

/// One answer in progress. Owned by what it has posted.
class ColumnRead : public std::enable_shared_from_this<ColumnRead> {
 public:
  using Then = std::function<void(const engine::ExperimentRecord&, views::ColumnScan)>;

  ColumnRead(RequestContext& context, Call call, views::ColumnScan scan, bool counts_from_zero, Then then)
      : context_(context),
        call_(std::move(call)),
        scan_(std::move(scan)),
        counts_from_zero_(counts_from_zero),
        then_(std::move(then)) {}

  void begin() {
    watch_ = context_.runtime.watch_events([this](const engine::Event& event) {
      const views::Touched touched = views::touched_by(event);
      if (touched.experiment == call_.experiment() && touched.trial) {
        scan_.changed(*touched.trial);
      }
    });
    go_on();
  }

 private:
  void go_on() {
    const auto record = context_.experiment(call_);
    if (!record) {
      end(failure(record.error()));
      return;
    }
    if ((*record)->counts_from_zero != counts_from_zero_) {  // That changed the steps of all trials.
      end(refusal_to_wait());
      return;
    }
    if (scan_.read_some(**record, cells_per_turn)) {
      context_.runtime.loop().post([self = shared_from_this()] { self->go_on(); });
      return;
    }
    scan_.finish(**record, context_.runtime.engine().last_lsn());
    watch_ = net::Watch{};
    then_(**record, std::move(scan_));
  }
  void end(const net::HttpResponse& response) {
    watch_ = net::Watch{};
    context_.answer(call_, response);
  }
  static net::HttpResponse refusal_to_wait() {
    return failure(
        engine::Error{engine::Errc::unavailable,
                      "the steps of all trials were counted anew while they were read; ask again"});
  }

  RequestContext& context_;
  Call call_;
  views::ColumnScan scan_;
  bool counts_from_zero_;
  Then then_;
  net::Watch watch_;
};

}  // namespace

void read_columns(RequestContext& context, const Call& call, const views::ColumnsQuery& query,
                  std::function<void(const engine::ExperimentRecord&, views::ColumnScan)> then) {
  const auto record = context.experiment(call);
  if (!record) {
    context.answer(call, failure(record.error()));
    return;
  }
  auto scan =
      views::ColumnScan::begin(**record, context.runtime.metric_names(), query, context.runtime.now());
  if (!scan) {
    context.answer(call, failure(scan.error()));
    return;
  }
  std::make_shared<ColumnRead>(context, call, *std::move(scan), (*record)->counts_from_zero, std::move(then))
      ->begin();
}

void answer_with_columns(RequestContext& context, const Call& call, const views::ColumnsQuery& query,
                         std::function<net::HttpResponse(const views::Columns&)> spell) {
  read_columns(
      context, call, query,
      [&context, call, spell = std::move(spell)](const engine::ExperimentRecord&, views::ColumnScan read) {
        auto scan = std::make_shared<views::ColumnScan>(std::move(read));
        context.answer_beside(call, [scan, spell] { return spell(scan->take()); });
      });
}

}  // namespace hpsearch::daemon

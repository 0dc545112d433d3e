#include "hpsearch/workers/core/spool.hpp"

#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/workers/core/checked_record.hpp"

// An attempt's spool, as a crash or a bad disk leaves it. What is read and written anew reads the same. If
// the first byte is odd, the rest is a spool as it lies on the disk; else it is bodies of records, which get
// their checksums here: a fuzzer finds none by itself.

namespace hpsearch::fuzz {
namespace {

std::string anew(const workers::SpooledAttempt& attempt) {
  return workers::spool_anew(attempt.spec, attempt.state, attempt.state.acked + 1,
                             {attempt.reports.begin(), attempt.reports.end()});
}

void run_spool(std::string_view bytes) {
  Parts parts(bytes);
  std::string spool;
  if (parts.byte() % 2 == 1) {
    spool = parts.rest();
  } else {
    while (!parts.done()) {
      const std::string_view body = parts.chunk();
      spool += body.empty() ? "" : workers::checked_record(body);
    }
  }
  const auto read = workers::read_spool(spool);
  if (!read) {
    HPSEARCH_CHECK(!read.error().message.empty(), "an error has a reason");
    return;
  }
  HPSEARCH_CHECK(read->reports.size() <= spool.size(), "reports are not made up");
  const std::string written = anew(*read);
  const auto again = workers::read_spool(written);
  HPSEARCH_CHECK(again.has_value(), "what is written can be read");
  HPSEARCH_CHECK(again->state == read->state && again->reports.size() == read->reports.size(),
                 "and it is the same");
  HPSEARCH_CHECK(anew(*again) == written, "and is written the same");
}

Seeds spool_seeds() {
  jobs::LaunchSpec spec;
  spec.key = {engine::ExperimentId{1}, engine::TrialNumber{2}, engine::AttemptNumber{3}, engine::LeaseId{40}};
  spec.entrypoint = jobs::Entrypoint{std::string("true")};
  spec.length = engine::Units{3};
  spec.metric = "acc";
  workers::SpooledState state;
  state.position = 12'345;
  state.acked = 1;
  state.last_decision = engine::Lsn{77};
  state.order = engine::Directive::pause;
  state.length = engine::Units{9};
  state.last_step = engine::Units{4};
  state.asking = {workers::QuestionId{5}};
  state.checkpoints = {{.step = engine::Units{4}, .question = workers::QuestionId{7}}};
  const engine::Report metrics = engine::MetricsReport{engine::Units{1}, {{"acc", 0.5}}};
  const std::string first = workers::spool_anew(spec, {}, 1, {metrics, metrics});
  const std::string second =
      workers::spool_more(state, 3, {engine::CheckpointReport{engine::Units{2}, "/c/1", 2, 30}, metrics});
  const auto body = [](const std::string& record) {
    return as_chunk(record.substr(workers::checked_head_bytes));
  };
  return {'\1' + first, '\1' + first + second, '\2' + body(first), '\2' + body(first) + body(second)};
}

const Registered spool_target({"spool", run_spool, spool_seeds});

}  // namespace
}  // namespace hpsearch::fuzz

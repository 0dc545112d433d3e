#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <utility>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/experiment/events.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/events/stored.hpp"
#include "hpsearch/proto/wire/wire.hpp"

// What a message costs between a socket and a decision: a worker's report, the event that is stored of it,
// and what people read. The floor copies as many bytes.

namespace hpsearch::proto {
namespace {

/// "accuracy", "loss" and "throughput", and as many more as are asked for.
engine::MetricsReport report_of(std::int64_t metrics) {
  engine::MetricsReport report{engine::Units{64},
                               {{"accuracy", 0.912}, {"loss", 0.2817}, {"throughput", 10213.5}}};
  for (std::int64_t more = 3; more < metrics; ++more) {
    report.metrics.emplace_back("unit_" + std::to_string(100 + more), 1.0 / static_cast<double>(more));
  }
  return report;
}

FromWorker report_frame(std::int64_t metrics) {
  return Reports{{}, 17, {report_of(metrics)}};
}

engine::EventBody report_event(std::int64_t metrics) {
  return engine::ReportTaken{{}, 17, report_of(metrics)};
}

void count_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.counters["bytes"] = static_cast<double>(bytes);
}

void copy_report(benchmark::State& state) {
  const Bytes frame = encode(Envelope{}, report_frame(state.range(0)));
  Bytes copy(frame.size());
  for (auto _ : state) {
    std::memcpy(copy.data(), frame.data(), frame.size());
    benchmark::DoNotOptimize(copy.data());
    benchmark::ClobberMemory();
  }
  count_bytes(state, frame.size());
}

void encode_report(benchmark::State& state) {
  const FromWorker message = report_frame(state.range(0));
  std::size_t bytes = 0;
  for (auto _ : state) {
    const Bytes frame = encode(Envelope{}, message);
    bytes = frame.size();
    benchmark::DoNotOptimize(frame.data());
  }
  count_bytes(state, bytes);
}

void decode_report(benchmark::State& state) {
  const Bytes frame = encode(Envelope{}, report_frame(state.range(0)));
  for (auto _ : state) {
    auto message = decode_from_worker(frame);
    HPSEARCH_CHECK(message.has_value(), "what is encoded, is decoded");
    benchmark::DoNotOptimize(&message);
  }
  count_bytes(state, frame.size());
}

void encode_stored(benchmark::State& state) {
  const engine::EventBody event = report_event(state.range(0));
  std::size_t bytes = 0;
  for (auto _ : state) {
    const Bytes record = encode_event(event);
    bytes = record.size();
    benchmark::DoNotOptimize(record.data());
  }
  count_bytes(state, bytes);
}

void decode_stored(benchmark::State& state) {
  const Bytes record = encode_event(report_event(state.range(0)));
  for (auto _ : state) {
    auto event = decode_event(record);
    HPSEARCH_CHECK(event.has_value(), "what is encoded, is decoded");
    benchmark::DoNotOptimize(&event);
  }
  count_bytes(state, record.size());
}

engine::Value event_as_people_read_it(std::int64_t metrics) {
  engine::Event event;
  event.body = report_event(metrics);
  return to_value(event);
}

void write_json(benchmark::State& state) {
  const engine::Value value = event_as_people_read_it(state.range(0));
  std::size_t bytes = 0;
  for (auto _ : state) {
    const std::string text = engine::compact_json(value);
    bytes = text.size();
    benchmark::DoNotOptimize(text.data());
  }
  count_bytes(state, bytes);
}

void read_json(benchmark::State& state) {
  const std::string text = engine::compact_json(event_as_people_read_it(state.range(0)));
  for (auto _ : state) {
    auto value = parse_json(text);
    HPSEARCH_CHECK(value.has_value(), "what is written, is read");
    benchmark::DoNotOptimize(&value);
  }
  count_bytes(state, text.size());
}

// Three metrics are what most programs report. No growth is fitted: what a message costs before its first
// metric would make it look like a logarithm.
void three_to_many(benchmark::internal::Benchmark* bench) {
  bench->ArgName("metrics")->Arg(3)->Arg(48);
}

BENCHMARK(copy_report)->Name("proto/floor/copy")->Apply(three_to_many);
BENCHMARK(encode_report)->Name("proto/report/encode")->Apply(three_to_many);
BENCHMARK(decode_report)->Name("proto/report/decode")->Apply(three_to_many);
BENCHMARK(encode_stored)->Name("proto/stored_event/encode")->Apply(three_to_many);
BENCHMARK(decode_stored)->Name("proto/stored_event/decode")->Apply(three_to_many);
BENCHMARK(write_json)->Name("proto/json/write")->Apply(three_to_many);
BENCHMARK(read_json)->Name("proto/json/read")->Apply(three_to_many);

}  // namespace
}  // namespace hpsearch::proto

#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <utility>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/experiment/events.hpp"
#include "hpsearch/proto/json.hpp"
#include "hpsearch/proto/stored.hpp"
#include "hpsearch/proto/wire.hpp"

// What a message costs between a socket and a decision: a worker's report, the event that is stored of it, and
// what people read. The floor copies as many bytes.

namespace hpsearch::proto {
namespace {

engine::MetricsReport three_metrics() {
  return {engine::Units{64}, {{"accuracy", 0.912}, {"loss", 0.2817}, {"throughput", 10213.5}}};
}

FromWorker report_frame() {
  return Reports{{}, 17, {three_metrics()}};
}

engine::EventBody report_event() {
  return engine::ReportTaken{{}, 17, three_metrics()};
}

void count_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.counters["bytes"] = static_cast<double>(bytes);
}

void copy_report(benchmark::State& state) {
  const Bytes frame = encode(Envelope{}, report_frame());
  Bytes copy(frame.size());
  for (auto _ : state) {
    std::memcpy(copy.data(), frame.data(), frame.size());
    benchmark::DoNotOptimize(copy.data());
    benchmark::ClobberMemory();
  }
  count_bytes(state, frame.size());
}

void encode_report(benchmark::State& state) {
  const FromWorker message = report_frame();
  std::size_t bytes = 0;
  for (auto _ : state) {
    const Bytes frame = encode(Envelope{}, message);
    bytes = frame.size();
    benchmark::DoNotOptimize(frame.data());
  }
  count_bytes(state, bytes);
}

void decode_report(benchmark::State& state) {
  const Bytes frame = encode(Envelope{}, report_frame());
  for (auto _ : state) {
    auto message = decode_from_worker(frame);
    HPSEARCH_CHECK(message.has_value(), "what is encoded, is decoded");
    benchmark::DoNotOptimize(&message);
  }
  count_bytes(state, frame.size());
}

void encode_stored(benchmark::State& state) {
  const engine::EventBody event = report_event();
  std::size_t bytes = 0;
  for (auto _ : state) {
    const Bytes record = encode_event(event);
    bytes = record.size();
    benchmark::DoNotOptimize(record.data());
  }
  count_bytes(state, bytes);
}

void decode_stored(benchmark::State& state) {
  const Bytes record = encode_event(report_event());
  for (auto _ : state) {
    auto event = decode_event(record);
    HPSEARCH_CHECK(event.has_value(), "what is encoded, is decoded");
    benchmark::DoNotOptimize(&event);
  }
  count_bytes(state, record.size());
}

engine::Value event_as_people_read_it() {
  engine::Event event;
  event.body = report_event();
  return to_value(event);
}

void write_json(benchmark::State& state) {
  const engine::Value value = event_as_people_read_it();
  std::size_t bytes = 0;
  for (auto _ : state) {
    const std::string text = engine::compact_json(value);
    bytes = text.size();
    benchmark::DoNotOptimize(text.data());
  }
  count_bytes(state, bytes);
}

void read_json(benchmark::State& state) {
  const std::string text = engine::compact_json(event_as_people_read_it());
  for (auto _ : state) {
    auto value = parse_json(text);
    HPSEARCH_CHECK(value.has_value(), "what is written, is read");
    benchmark::DoNotOptimize(&value);
  }
  count_bytes(state, text.size());
}

BENCHMARK(copy_report)->Name("proto/floor/copy");
BENCHMARK(encode_report)->Name("proto/report/encode");
BENCHMARK(decode_report)->Name("proto/report/decode");
BENCHMARK(encode_stored)->Name("proto/stored_event/encode");
BENCHMARK(decode_stored)->Name("proto/stored_event/decode");
BENCHMARK(write_json)->Name("proto/json/write");
BENCHMARK(read_json)->Name("proto/json/read");

}  // namespace
}  // namespace hpsearch::proto

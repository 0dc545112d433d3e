#include <algorithm>

#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/workers/core/log_text.hpp"
#include "hpsearch/workers/core/program_message.hpp"
#include "hpsearch/workers/shell/shim/metric_scanner.hpp"

// The input is the output of a training program. A line for us is a message with sorted, unique metrics, or
// an error; so is what a pattern finds in any other line. The input is a pattern, then the lines.

namespace hpsearch::fuzz {
namespace {

void check_message(const engine::Result<workers::ProgramMessage>& message) {
  if (!message) {
    HPSEARCH_CHECK(!message.error().message.empty(), "an error has a reason");
    return;
  }
  if (const auto* said = std::get_if<workers::MetricsMessage>(&*message)) {
    const auto not_after = [](const auto& a, const auto& b) { return a.first >= b.first; };
    HPSEARCH_CHECK(
        std::adjacent_find(said->metrics.begin(), said->metrics.end(), not_after) == said->metrics.end(),
        "metrics are sorted, each once");
  }
}

void run_metric_line(std::string_view bytes) {
  Parts parts(bytes);
  auto scanner = workers::MetricScanner::compile({{"loss", std::string(parts.chunk())}}, engine::Units{3});
  while (!parts.done()) {
    const std::string_view line = parts.chunk();
    if (const auto payload = workers::stdout_payload(line)) {
      check_message(workers::parse_stdout_payload(*payload));
    }
    check_message(workers::parse_socket_line(line));
    static_cast<void>(workers::first_number(line));
    static_cast<void>(workers::captured_step(line));
    static_cast<void>(workers::without_escapes(line));
    if (!scanner) {
      continue;
    }
    for (const workers::ProgramMessage& message : scanner->scan(line)) {
      check_message(message);
    }
  }
}

std::string with_pattern(std::string_view pattern, std::initializer_list<std::string_view> lines) {
  std::string seed = as_chunk(pattern);
  for (const std::string_view line : lines) {
    seed += as_chunk(line);
  }
  return seed;
}

Seeds metric_line_seeds() {
  return {
      with_pattern("loss[=:] *(\\S+)",
                   {"epoch 3 loss: 0.25", "loss=tensor(0.91, device='cuda:0')", "loss=nan"}),
      with_pattern("^(?P<step>\\d+) (?P<value>[-+.0-9e]+)$", {"12 0.5", "18446744073709551615 -1e-3", "7 ."}),
      with_pattern("x", {R"(HPSEARCH {"step":3,"val_acc":0.91})",
                         R"(HPSEARCH {"step":3.0,"group":"train","a":{"b":1}})"}),
      with_pattern(
          "", {R"({"type":"report","step":3,"metrics":{"val_acc":0.91,"a":{"b":NaN}},"group":"train"})",
               R"({"type":"checkpoint","step":3})", R"({"type":"progress","percent":50})",
               R"({"type":"log","line":"hello"})", R"({"type":"invalid_hyperparameters","why":"too large"})",
               R"({"type":"report","step":3,"metrics":{"loss":-Infinity}})"}),
  };
}

const Registered metric_line_target({"metric_line", run_metric_line, metric_line_seeds});

}  // namespace
}  // namespace hpsearch::fuzz

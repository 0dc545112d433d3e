#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/proto/encoding/spell.hpp"
#include "hpsearch/workers/core/launch/program_start.hpp"

namespace hpsearch::workers {

/// The program that a shim must run; a file in the attempt's directory that only its owner can read.
struct LaunchOrder {
  ProgramStart program;
  std::string report_socket;  ///< The socket for the program's reports.
  std::string agent_socket;   ///< The socket for agents.
  std::map<std::string, std::string> metric_patterns;
  std::string metric;  ///< The search's metric, if this program should report it; "" otherwise.
  engine::Units first_step{};
  std::string checkpoint_signal{};        ///< "SIGUSR1", "SIGUSR2", or "" = none.
  bool ends_without_agent = false;        ///< A minute after its agent has ended, unless another one comes.
  std::vector<std::string> slot_files{};  ///< The shim locks these as long as the attempt lasts (SlotTable).
};

void spell(auto& fields, proto::Is<LaunchOrder> auto& order) {
  fields("program", order.program);
  fields.bytes("report_socket", order.report_socket);
  fields.bytes("agent_socket", order.agent_socket);
  fields.bytes("metric_patterns", order.metric_patterns);
  fields.bytes("metric", order.metric);
  fields("first_step", order.first_step);
  fields.maybe("checkpoint_signal", order.checkpoint_signal);
  fields.maybe("ends_without_agent", order.ends_without_agent);
  fields.maybe("slot_files", order.slot_files);
}

engine::Status write_launch_order(const std::filesystem::path& path, const LaunchOrder& order);

/// corrupt: the file is no launch order.
[[nodiscard]] engine::Result<LaunchOrder> read_launch_order(const std::filesystem::path& path);

}  // namespace hpsearch::workers

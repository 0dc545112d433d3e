#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/proto/encoding/spell.hpp"
#include "hpsearch/workers/core/launch/run_as.hpp"

namespace hpsearch::workers {

/// How a program is started. Every stage of a launch has this struct and adds only its own facts: Launch
/// the files, ContainerPlan the container, LaunchOrder the sockets.
struct ProgramStart {
  bool operator==(const ProgramStart&) const = default;

  std::vector<std::string> argv;  ///< argv[0] is looked up on the environment's PATH unless it has a slash.
  std::map<std::string, std::string> environment;
  std::string directory;  ///< The current directory of the program.
  std::string token;      ///< "NAME=value" in the environment of this program only: marks its descendants.
  bool terminal = false;  ///< Its standard output is a terminal.
  std::optional<UnixAccount> account{};  ///< The user of the program; none = the shim's own user.
};

/// Arguments and environments needn't be UTF-8.
void spell(auto& fields, proto::Is<ProgramStart> auto& start) {
  fields.bytes("argv", start.argv);
  fields.bytes("environment", start.environment);
  fields.bytes("directory", start.directory);
  fields.bytes("token", start.token);
  fields.maybe("terminal", start.terminal);
  fields.maybe("account", start.account);
}

}  // namespace hpsearch::workers

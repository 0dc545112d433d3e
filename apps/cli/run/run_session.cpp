#include "cli/run/run_session.hpp"

#include "cli/run/same_command.hpp"

namespace hpsearch::cli {

PrivateCluster::Say RunSession::say() {
  return [this](const std::string& text) { view.say(output.json() ? text : "hpsearch: " + text, true); };
}

PrivateCluster::Hurry RunSession::hurry() const {
  return [this] { return interrupts.count() > 0; };
}

std::filesystem::path RunSession::file_path() const {
  std::error_code ignored;
  return options.file == "-" ? std::filesystem::path("-")
                             : std::filesystem::absolute(options.file, ignored).lexically_normal();
}

std::string RunSession::afresh() const {
  return same_command(options.command, "--fresh");
}

}  // namespace hpsearch::cli

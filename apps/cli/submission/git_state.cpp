#include "cli/submission/git_state.hpp"

#include <chrono>
#include <vector>

#include "hpsearch/io/net/run_command.hpp"

namespace hpsearch::cli {
namespace {

constexpr std::chrono::seconds longest_wait{3};

/// Asks git about the checkout that `directory` is part of, also if a hook of another one started us: such
/// variables name that one. The monitor of the checkout's files is not started.
net::CommandAnswer ask_git(const std::string& directory, const std::vector<std::string>& question) {
  std::vector<std::string> words{"env"};
  for (const char* variable :
       {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"}) {
    words.insert(words.end(), {"-u", variable});
  }
  words.insert(words.end(), {"git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-C", directory});
  words.insert(words.end(), question.begin(), question.end());
  return net::run_command(words, longest_wait);
}

/// The only line of an answer; "" if git refused.
std::string line_of(const net::CommandAnswer& answer) {
  return answer.succeeded() ? answer.output.substr(0, answer.output.find('\n')) : "";
}

}  // namespace

std::optional<api::GitState> git_state(const std::string& directory, const std::string& left_out) {
  api::GitState state;
  state.commit = line_of(ask_git(directory, {"rev-parse", "--verify", "HEAD"}));
  if (state.commit.empty()) {
    return std::nullopt;
  }
  const net::CommandAnswer branch = ask_git(directory, {"symbolic-ref", "--short", "-q", "HEAD"});
  std::vector<std::string> status{"status", "--porcelain", "--untracked-files=normal", "--", "."};
  if (left_out.starts_with(directory.ends_with('/') ? directory : directory + "/")) {
    status.push_back(":(exclude,literal)" + left_out);
  }
  const net::CommandAnswer changes = ask_git(directory, status);
  if (!branch.ran || !changes.succeeded()) {
    return std::nullopt;
  }
  state.branch = line_of(branch);
  state.dirty = !changes.output.empty();
  return state;
}

}  // namespace hpsearch::cli

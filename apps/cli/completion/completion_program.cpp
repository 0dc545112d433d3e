#include "cli/completion/completion_program.hpp"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <span>
#include <string>
#include <string_view>

#include "cli/completion/live_words.hpp"

namespace hpsearch::cli {

// The scripts of apps/cli/completion, as CMake puts them into the program.
extern const char completion_for_bash[];
extern const char completion_for_zsh[];
extern const char completion_for_fish[];

namespace {

/// A shell that waits for a completion doesn't accept input.
constexpr suseconds_t longest_micros = 100'000;

void leave(int) {
  ::_exit(0);
}

void end_in_time() {
  struct sigaction action {};
  action.sa_handler = leave;
  ::sigaction(SIGALRM, &action, nullptr);
  const itimerval timer{{0, 0}, {0, longest_micros}};
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

std::string lines_of(const std::vector<Candidate>& candidates) {
  std::string lines;
  for (const Candidate& one : candidates) {
    lines += one.word + (one.about.empty() ? "" : "\t" + one.about) + "\n";
  }
  return lines;
}

/// In one call, so that the end of time leaves no half of a line. Standard output is a pipe of the script.
void write_now(const std::string& text) {
  static_cast<void>(!::write(STDOUT_FILENO, text.data(), text.size()));
}

}  // namespace

int complete_words(const CLI::App& app, std::span<const std::string> words,
                   const ServerOptions& of_environment) {
  end_in_time();
  Completion place = complete(app, words);
  if (!place.server.server && !place.server.state_dir) {
    place.server.server = of_environment.server;
  }
  if (!place.server.token_file && !place.server.state_dir) {
    place.server.token_file = of_environment.token_file;
  }
  const std::string_view others = place.values == Values::files         ? ":files\n"
                                  : place.values == Values::directories ? ":directories\n"
                                                                        : "";
  write_now(lines_of(place.candidates) + std::string(others));
  write_now(lines_of(live_words(place)));
  return 0;
}

int print_completion(const std::string& shell, const Output& output) {
  output.print(shell == "bash"  ? completion_for_bash
               : shell == "zsh" ? completion_for_zsh
                                : completion_for_fish);
  return 0;
}

}  // namespace hpsearch::cli

#include "hpsearch/io/files/hidden_line.hpp"

#include <termios.h>
#include <unistd.h>

#include <cstddef>
#include <iostream>

namespace hpsearch::files {
namespace {

constexpr std::size_t longest_hidden_line = 4'096;

/// Hides typed characters.
class HiddenInput {
 public:
  HiddenInput() {
    if (::tcgetattr(STDIN_FILENO, &before_) == 0) {
      termios hidden = before_;
      hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
      hidden_ = ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) == 0;
    }
  }
  HiddenInput(const HiddenInput&) = delete;
  HiddenInput& operator=(const HiddenInput&) = delete;
  ~HiddenInput() {
    if (hidden_) {
      ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
      std::cerr << '\n';
    }
  }

 private:
  termios before_{};
  bool hidden_ = false;
};

}  // namespace

std::string read_hidden_line(const char* prompt) {
  if (::isatty(STDIN_FILENO) != 0) {
    std::cerr << prompt << std::flush;
  }
  const HiddenInput hidden;
  std::string line;
  for (char c = 0; line.size() < longest_hidden_line && std::cin.get(c) && c != '\n';) {
    line += c;
  }
  return line;
}

}  // namespace hpsearch::files

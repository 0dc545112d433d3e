#include "cli/watch/full_screen.hpp"

#include <langinfo.h>
#include <ncurses.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace hpsearch::cli {
namespace {

using Look = ScreenLine::Look;

/// The curve is drawn in braille, so the terminal's encoding must be UTF-8.
void use_utf8() {
  std::setlocale(LC_CTYPE, "");
  if (std::string_view(nl_langinfo(CODESET)) != "UTF-8") {
    std::setlocale(LC_CTYPE, "C.UTF-8");
  }
}

}  // namespace

struct FullScreen::Impl {
  SCREEN* screen = nullptr;
  bool colored = false;

  [[nodiscard]] attr_t look(Look of) const {
    switch (of) {
      case Look::plain:
        return A_NORMAL;
      case Look::title:
        return A_BOLD;
      case Look::dim:
        return colored ? static_cast<attr_t>(COLOR_PAIR(3)) : A_BOLD;
      case Look::good:
        return colored ? static_cast<attr_t>(COLOR_PAIR(1)) : A_NORMAL;
      case Look::trouble:
        return colored ? static_cast<attr_t>(COLOR_PAIR(2)) : A_BOLD;
    }
    return A_NORMAL;
  }
};

FullScreen::FullScreen(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
}

std::unique_ptr<FullScreen> FullScreen::open(bool colored) {
  if (::isatty(STDOUT_FILENO) == 0 || ::isatty(STDIN_FILENO) == 0) {
    return nullptr;
  }
  use_utf8();
  auto impl = std::make_unique<Impl>();
  impl->screen = newterm(nullptr, stdout, stdin);  // initscr() would end the program.
  if (impl->screen == nullptr) {
    return nullptr;
  }
  set_term(impl->screen);
  cbreak();
  noecho();
  curs_set(0);
  keypad(stdscr, TRUE);
  impl->colored = colored && has_colors();
  if (impl->colored) {
    start_color();
    use_default_colors();
    init_pair(1, COLOR_GREEN, -1);
    init_pair(2, COLOR_YELLOW, -1);
    init_pair(3, COLOR_CYAN, -1);
  }
  return std::unique_ptr<FullScreen>(new FullScreen(std::move(impl)));
}

FullScreen::~FullScreen() {
  endwin();
  delscreen(impl_->screen);
}

std::size_t FullScreen::width() const {
  return static_cast<std::size_t>(getmaxx(stdscr));
}

std::size_t FullScreen::height() const {
  return static_cast<std::size_t>(getmaxy(stdscr));
}

void FullScreen::draw(const std::vector<ScreenLine>& lines) {
  erase();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const attr_t look = impl_->look(lines[i].look);
    attr_on(look, nullptr);
    mvaddstr(static_cast<int>(i), 0, lines[i].text.c_str());
    attr_off(look, nullptr);
  }
  refresh();
}

char FullScreen::key(std::chrono::milliseconds patience) {
  timeout(static_cast<int>(patience.count()));
  const int pressed = getch();
  return pressed > 0 && pressed < 128 ? static_cast<char>(pressed) : '\0';
}

}  // namespace hpsearch::cli

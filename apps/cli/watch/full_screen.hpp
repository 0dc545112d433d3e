#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "cli/watch/watch_screen.hpp"

namespace hpsearch::cli {

/// Uses the whole terminal; the destructor restores its content.
class FullScreen {
 public:
  /// Null: the terminal cannot be drawn on (no terminal, or an unknown one).
  [[nodiscard]] static std::unique_ptr<FullScreen> open(bool colored);
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;
  ~FullScreen();

  [[nodiscard]] std::size_t width() const;
  [[nodiscard]] std::size_t height() const;
  /// Sends only the differences from the present screen.
  void draw(const std::vector<ScreenLine>& lines);
  /// The key that is pressed within that time; 0 = none, or the size has changed.
  [[nodiscard]] char key(std::chrono::milliseconds patience);

 private:
  struct Impl;
  explicit FullScreen(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hpsearch::cli

#include "hpsearch/workers/shell/launch_order.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using engine::Units;

namespace {

// Texts with a NUL behind each, as neither arguments nor environments can hold one; lists begin with their
// length. JSON would not do: an environment need not be UTF-8.

constexpr std::string_view mark = "hpsearch launch 1";
constexpr std::size_t longest = std::size_t{16} * 1024 * 1024;

void put(std::string& to, std::string_view text) {
  to.append(text).push_back('\0');
}

void put(std::string& to, const std::map<std::string, std::string>& map) {
  put(to, std::to_string(map.size()));
  for (const auto& [key, value] : map) {
    put(to, key);
    put(to, value);
  }
}

class Texts {
 public:
  explicit Texts(std::string_view rest) : rest_(rest) {}

  std::string next() {
    const std::size_t end = rest_.find('\0');
    if (end == std::string_view::npos) {
      whole_ = false;
      return {};
    }
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::uint64_t next_count() {
    const std::string text = next();
    std::uint64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    whole_ = whole_ && error == std::errc() && end == text.data() + text.size();
    return whole_ ? count : 0;
  }
  std::map<std::string, std::string> next_map() {
    std::map<std::string, std::string> map;
    for (std::uint64_t left = next_count(); left > 0 && whole_; --left) {
      std::string key = next();
      map[std::move(key)] = next();
    }
    return map;
  }
  [[nodiscard]] bool whole() const noexcept { return whole_; }

 private:
  std::string_view rest_;
  bool whole_ = true;
};

}  // namespace

Status write_launch_order(const fs::path& path, const LaunchOrder& order) {
  std::string text;
  put(text, mark);
  put(text, std::to_string(order.program.argv.size()));
  for (const std::string& argument : order.program.argv) {
    put(text, argument);
  }
  put(text, order.program.environment);
  put(text, order.program.directory);
  put(text, order.program.token);
  put(text, order.report_socket);
  put(text, order.agent_socket);
  put(text, order.metric_patterns);
  put(text, std::to_string(count(order.first_step)));
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file || !write_all(file.get(), text)) {
    return file_error("cannot write", path, errno);
  }
  return engine::Done{};
}

Result<LaunchOrder> read_launch_order(const fs::path& path) {
  const Result<std::string> text = read_file(path, longest);
  if (!text) {
    return text.error();
  }
  Texts texts(*text);
  const bool known = texts.next() == mark;
  LaunchOrder order;
  for (std::uint64_t left = texts.next_count(); left > 0 && texts.whole(); --left) {
    order.program.argv.push_back(texts.next());
  }
  order.program.environment = texts.next_map();
  order.program.directory = texts.next();
  order.program.token = texts.next();
  order.report_socket = texts.next();
  order.agent_socket = texts.next();
  order.metric_patterns = texts.next_map();
  order.first_step = Units{texts.next_count()};
  if (!known || !texts.whole() || order.program.argv.empty()) {
    return Error{Errc::corrupt, path.string() + " is no launch order"};
  }
  return order;
}

}  // namespace hpsearch::workers

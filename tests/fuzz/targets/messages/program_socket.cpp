#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"
#include "hpsearch/workers/core/log_text.hpp"
#include "hpsearch/workers/core/program_message.hpp"

// What a training program writes to its socket: however the bytes arrive in pieces, they are the same lines,
// none longer than allowed, and each is a message or an error. The first byte says how long the pieces are.

namespace hpsearch::fuzz {
namespace {

// Shorter than a real socket's limit, so that short inputs exceed it.
constexpr std::size_t longest_line = 100;

std::vector<std::string> lines_of(std::string_view bytes, std::size_t piece) {
  std::vector<std::string> lines;
  const auto take = [&lines](std::string_view line) { lines.emplace_back(line); };
  workers::LineSplitter splitter(longest_line);
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    splitter.feed(bytes.substr(at, piece), take);
  }
  splitter.finish(take);
  return lines;
}

void run_program_socket(std::string_view bytes) {
  Parts parts(bytes);
  const std::size_t piece = parts.byte() + 1;
  const std::string_view said = parts.rest();
  const std::vector<std::string> lines = lines_of(said, piece);
  HPSEARCH_CHECK(lines == lines_of(said, said.size() + 1), "pieces make no difference");
  for (const std::string& line : lines) {
    HPSEARCH_CHECK(!line.empty() && line.size() <= longest_line, "no line is empty or too long");
    HPSEARCH_CHECK(line.find_first_of("\r\n") == std::string::npos, "no line holds an end of line");
    const auto message = workers::parse_socket_line(line);
    HPSEARCH_CHECK(message || !message.error().message.empty(), "an error has a reason");
  }
  const std::string clean = proto::clean_utf8(said);
  HPSEARCH_CHECK(clean.size() == said.size() && proto::clean_utf8(clean) == clean,
                 "clean text stays as it is");
  HPSEARCH_CHECK(workers::last_lines(said, piece).size() <= piece, "a limit is kept");
}

Seeds program_socket_seeds() {
  const std::string talk =
      "{\"type\":\"report\",\"step\":3,\"metrics\":{\"val_acc\":0.91}}\n\r\n{\"type\":\"checkpoint\"}\r"
      "{\"type\":\"log\",\"line\":\"\xC3\xA9t\xC3\xA9\"}\n" +
      std::string(150, 'x') + "\n{\"type\":\"progress\",\"percent\":7}";
  return {'\0' + talk, '\7' + talk, '\xFF' + talk, std::string("\7\xF0\x9F\x98\n\xF0\x9F\x98\x80")};
}

const Registered program_socket_target({"program_socket", run_program_socket, program_socket_seeds});

}  // namespace
}  // namespace hpsearch::fuzz

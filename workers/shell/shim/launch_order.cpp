#include "hpsearch/workers/shell/shim/launch_order.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/workers/core/checked_record.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

namespace {

constexpr std::size_t longest = std::size_t{16} * 1024 * 1024;

}  // namespace

Status write_launch_order(const fs::path& path, const LaunchOrder& order) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file || !write_all(file.get(), checked_record(proto::encode_record(order)))) {
    return file_error("cannot write", path, errno);
  }
  return engine::Done{};
}

Result<LaunchOrder> read_launch_order(const fs::path& path) {
  const Result<std::string> text = read_file(path, longest);
  if (!text) {
    return text.error();
  }
  const std::optional<CheckedHead> head = read_checked_head(*text);
  const std::string_view body =
      head ? std::string_view(*text).substr(checked_head_bytes) : std::string_view();
  if (!head || !head->fits(body)) {
    return Error{Errc::corrupt, path.string() + " is no launch order"};
  }
  Result<LaunchOrder> order = proto::decode_record<LaunchOrder>(body);
  if (!order || order->program.argv.empty()) {
    return Error{Errc::corrupt,
                 path.string() + " is no launch order: " + (order ? "no program" : order.error().message)};
  }
  return order;
}

}  // namespace hpsearch::workers

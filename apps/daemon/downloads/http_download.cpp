#include "daemon/downloads/http_download.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "daemon/downloads/byte_range.hpp"
#include "daemon/http/http_pieces.hpp"
#include "daemon/http/http_request_context.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::size_t bytes_at_once = std::size_t{256} << 10U;

/// Reads the part piece by piece, beside the loop.
std::function<void(TakePiece)> pieces_of(net::Background& reads, const Download& download, ByteRange part) {
  return [&reads, read = download.read, left = std::make_shared<ByteRange>(part)](TakePiece take) {
    const std::size_t limit = std::min<std::uint64_t>(left->end - left->begin, bytes_at_once);
    reads.run(
        [read, left, from = left->begin, limit, take = std::move(take)]() -> net::Background::Afterwards {
          auto bytes = std::make_shared<Result<std::string>>(read(from, limit));
          return [left, bytes, take] {
            if (!*bytes || (*bytes)->empty()) {
              take(std::nullopt);
              return;
            }
            left->begin += (*bytes)->size();
            take(BodyPiece{*std::move(*bytes), left->begin == left->end});
          };
        });
  };
}

HttpResponse not_there(std::string_view range, std::uint64_t all) {
  HttpResponse refused =
      failure(416, Error{Errc::bad_request, "Range is \"" + std::string(range) + "\"; there are " +
                                                std::to_string(all) + " bytes"});
  refused.headers.emplace_back("Content-Range", "bytes */" + std::to_string(all));
  return refused;
}

}  // namespace

Download download_of(files::OpenFile file, std::string tag, std::string content_type) {
  const auto shared = std::make_shared<const files::OpenFile>(std::move(file));
  return {.bytes = shared->bytes(),
          .tag = std::move(tag),
          .content_type = std::move(content_type),
          .read = [shared](std::uint64_t offset, std::size_t limit) { return shared->read(offset, limit); }};
}

Download download_of(files::TarArchive archive, std::string tag, std::string file_name) {
  const auto shared = std::make_shared<const files::TarArchive>(std::move(archive));
  return {.bytes = shared->bytes(),
          .tag = std::move(tag),
          .content_type = "application/x-tar",
          .read = [shared](std::uint64_t offset, std::size_t limit) { return shared->read(offset, limit); },
          .file_name = std::move(file_name)};
}

HttpResponse answer_with(RequestContext& context, const Call& call, Download download) {
  const std::uint64_t all = download.bytes;
  const std::string tag = "\"" + download.tag + "\"";
  const std::string_view wanted = call.request.header("Range");
  const std::string_view unless = call.request.header("If-Range");
  const RangeAnswer range = unless.empty() || unless == tag ? range_of(wanted, all) : ByteRange{0, all};
  if (std::holds_alternative<RangeNotThere>(range)) {
    return not_there(wanted, all);
  }
  const ByteRange part = std::get<ByteRange>(range);
  HttpResponse response;
  response.content_type = download.content_type;
  response.headers = {{"Accept-Ranges", "bytes"}, {"ETag", tag}};
  if (!download.file_name.empty()) {
    response.headers.emplace_back("Content-Disposition",
                                  "attachment; filename=\"" + download.file_name + "\"");
  }
  if (part != ByteRange{0, all}) {
    response.status = 206;
    response.headers.emplace_back("Content-Range", "bytes " + std::to_string(part.begin) + "-" +
                                                       std::to_string(part.end - 1) + "/" +
                                                       std::to_string(all));
  }
  if (part.begin == part.end) {
    return response;
  }
  response.content_length = part.end - part.begin;
  response.stream = [&context, client = key_owner(call.caller), part,
                     download = std::move(download)](std::shared_ptr<net::HttpBody> body) {
    const bool waits = download.lane != Lane::none;
    auto pieces = pieces_of(download.lane == Lane::checkpoints ? *context.checkpoint_reads : *context.reads,
                            download, part);
    send_in_pieces(std::move(body), waits
                                        ? in_turn(context.lanes->of(download.lane), client, std::move(pieces))
                                        : std::move(pieces));
  };
  return response;
}

}  // namespace hpsearch::daemon

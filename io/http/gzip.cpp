#include "http/gzip.hpp"

#include <zlib.h>

#include <new>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::net {
namespace {

constexpr int level = 6;
constexpr int window_bits_of_gzip = 15 + 16;
constexpr int memory_level = 8;
constexpr std::size_t room_at_a_time = std::size_t{16} * 1024;

}  // namespace

struct Gzip::State {
  State() {
    if (deflateInit2(&stream, level, Z_DEFLATED, window_bits_of_gzip, memory_level, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
      throw std::bad_alloc();  // All else it checks is constant.
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { deflateEnd(&stream); }

  std::string run(std::string_view piece, int flush) {
    std::string packed;
    // zlib's interface has no const; it only reads.
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(piece.data()));
    stream.avail_in = static_cast<uInt>(piece.size());
    do {
      const std::size_t size = packed.size();
      packed.resize(size + room_at_a_time);
      stream.next_out = reinterpret_cast<Bytef*>(packed.data() + size);
      stream.avail_out = static_cast<uInt>(room_at_a_time);
      const int outcome = deflate(&stream, flush);
      HPSEARCH_CHECK(outcome != Z_STREAM_ERROR, "a packed text that goes on after its end");
      packed.resize(packed.size() - stream.avail_out);
    } while (stream.avail_out == 0);
    return packed;
  }

  z_stream stream{};
};

Gzip::Gzip() : state_(std::make_unique<State>()) {
}

Gzip::Gzip(Gzip&&) noexcept = default;
Gzip& Gzip::operator=(Gzip&&) noexcept = default;
Gzip::~Gzip() = default;

std::string Gzip::pack(std::string_view piece) {
  return state_->run(piece, Z_SYNC_FLUSH);
}

std::string Gzip::end() {
  return state_->run({}, Z_FINISH);
}

}  // namespace hpsearch::net

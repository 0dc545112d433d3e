#include "hpsearch/proto/encoding/msgpack_writer.hpp"

#include <bit>
#include <limits>
#include <msgpack/pack.hpp>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::proto {
namespace {

/// The output of msgpack's packer.
struct Appender {
  Bytes& out;
  void write(const char* data, std::size_t size) {
    const auto* first = reinterpret_cast<const std::byte*>(data);
    out.insert(out.end(), first, first + size);
  }
};

template <class Pack>
void pack(Bytes& out, Pack with) {
  Appender appender{out};
  msgpack::packer<Appender> packer(appender);
  with(packer);
}

std::uint32_t length_of(std::size_t size) {
  HPSEARCH_CHECK(size <= std::numeric_limits<std::uint32_t>::max(), "msgpack counts with 32 bits");
  return static_cast<std::uint32_t>(size);
}

}  // namespace

void MsgpackWriter::null() {
  pack(out_, [](auto& packer) { packer.pack_nil(); });
}

void MsgpackWriter::boolean(bool value) {
  pack(out_, [value](auto& packer) { value ? packer.pack_true() : packer.pack_false(); });
}

void MsgpackWriter::natural(std::uint64_t value) {
  pack(out_, [value](auto& packer) { packer.pack_uint64(value); });
}

void MsgpackWriter::integer(std::int64_t value) {
  pack(out_, [value](auto& packer) { packer.pack_int64(value); });
}

// Not pack_double: it writes 64.0 as the integer 64 and loses the sign of -0.0.
void MsgpackWriter::real(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  out_.push_back(std::byte{0xCB});
  for (int shift = 56; shift >= 0; shift -= 8) {
    out_.push_back(static_cast<std::byte>(bits >> shift & 0xFF));
  }
}

void MsgpackWriter::text(std::string_view value) {
  if (!is_utf8(value)) {
    text(to_utf8(value));
    return;
  }
  pack(out_, [value](auto& packer) {
    packer.pack_str(length_of(value.size()));
    packer.pack_str_body(value.data(), length_of(value.size()));
  });
}

void MsgpackWriter::bytes(std::string_view value) {
  pack(out_, [value](auto& packer) {
    packer.pack_bin(length_of(value.size()));
    packer.pack_bin_body(value.data(), length_of(value.size()));
  });
}

void MsgpackWriter::list(std::size_t items) {
  pack(out_, [items](auto& packer) { packer.pack_array(length_of(items)); });
}

void MsgpackWriter::map(std::size_t members) {
  pack(out_, [members](auto& packer) { packer.pack_map(length_of(members)); });
}

void MsgpackWriter::value(const engine::Value& value) {
  if (const bool* held = value.as_bool()) {
    boolean(*held);
  } else if (const std::int64_t* number = value.as_integer()) {
    integer(*number);
  } else if (const double* real_number = value.as_real()) {
    real(*real_number);
  } else if (const std::string* words = value.as_text()) {
    text(*words);
  } else if (const engine::Value::List* items = value.as_list()) {
    list(items->size());
    for (const engine::Value& item : *items) {
      this->value(item);
    }
  } else if (const engine::Value::Map* members = value.as_map()) {
    map(members->size());
    for (const auto& [key, member] : *members) {
      text(key);
      this->value(member);
    }
  } else {
    null();
  }
}

}  // namespace hpsearch::proto

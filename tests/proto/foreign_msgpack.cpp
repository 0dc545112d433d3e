#include "proto/foreign_msgpack.hpp"

#include <cstring>
#include <msgpack.hpp>

namespace hpsearch::test {
namespace {

using proto::Bytes;
using Packer = msgpack::packer<msgpack::sbuffer>;

template <class Pack>
Bytes packed(Pack pack) {
  msgpack::sbuffer buffer;
  Packer packer(buffer);
  pack(packer);
  return bytes_of(std::string(buffer.data(), buffer.size()));
}

/// msgpack's packer writes 64.0 as an integer; a copy must keep the real.
void repack(Packer& packer, msgpack::sbuffer& buffer, const msgpack::object& object) {
  switch (object.type) {
    case msgpack::type::ARRAY:
      packer.pack_array(object.via.array.size);
      for (const msgpack::object& item : object.via.array) {
        repack(packer, buffer, item);
      }
      break;
    case msgpack::type::MAP:
      packer.pack_map(object.via.map.size);
      for (const msgpack::object_kv& member : object.via.map) {
        repack(packer, buffer, member.key);
        repack(packer, buffer, member.val);
      }
      break;
    case msgpack::type::FLOAT64: {
      std::uint64_t bits = 0;
      static_assert(sizeof bits == sizeof object.via.f64);
      std::memcpy(&bits, &object.via.f64, sizeof bits);
      std::string raw = "\xCB";
      for (int shift = 56; shift >= 0; shift -= 8) {
        raw += static_cast<char>(bits >> shift & 0xFF);
      }
      buffer.write(raw.data(), raw.size());
      break;
    }
    default:
      packer.pack(object);
  }
}

Bytes copy_of(const msgpack::object& object) {
  msgpack::sbuffer buffer;
  Packer packer(buffer);
  repack(packer, buffer, object);
  return bytes_of(std::string(buffer.data(), buffer.size()));
}

msgpack::object_handle unpacked(std::span<const std::byte> bytes) {
  return msgpack::unpack(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void append(Bytes& out, const Bytes& more) {
  out.insert(out.end(), more.begin(), more.end());
}

}  // namespace

Bytes bytes_of(const std::string& raw) {
  const auto* first = reinterpret_cast<const std::byte*>(raw.data());
  return {first, first + raw.size()};
}

std::vector<Bytes> items_of(std::span<const std::byte> list) {
  const auto handle = unpacked(list);
  std::vector<Bytes> items;
  for (const msgpack::object& item : handle.get().via.array) {
    items.push_back(copy_of(item));
  }
  return items;
}

std::vector<std::pair<std::string, Bytes>> members_of(std::span<const std::byte> map) {
  const auto handle = unpacked(map);
  std::vector<std::pair<std::string, Bytes>> members;
  for (const msgpack::object_kv& member : handle.get().via.map) {
    members.emplace_back(member.key.as<std::string>(), copy_of(member.val));
  }
  return members;
}

Bytes map_of(const std::vector<std::pair<std::string, Bytes>>& members) {
  Bytes out = packed([&](Packer& packer) { packer.pack_map(static_cast<std::uint32_t>(members.size())); });
  for (const auto& [key, value] : members) {
    append(out, raw_text(key));
    append(out, value);
  }
  return out;
}

Apart take_apart(std::span<const std::byte> message) {
  Apart apart{items_of(message), {}};
  apart.body = members_of(apart.items.back());
  return apart;
}

Bytes put_together(const Apart& apart) {
  Bytes out =
      packed([&](Packer& packer) { packer.pack_array(static_cast<std::uint32_t>(apart.items.size())); });
  for (std::size_t i = 0; i + 1 < apart.items.size(); ++i) {
    append(out, apart.items[i]);
  }
  append(out, map_of(apart.body));
  return out;
}

bool is_map(std::span<const std::byte> value) {
  return unpacked(value).get().type == msgpack::type::MAP;
}

bool is_list(std::span<const std::byte> value) {
  return unpacked(value).get().type == msgpack::type::ARRAY;
}

Bytes raw_text(const std::string& text) {
  return packed([&](Packer& packer) { packer.pack(text); });
}

Bytes raw_integer(std::uint64_t number) {
  return packed([&](Packer& packer) { packer.pack(number); });
}

std::vector<std::pair<std::string, Bytes>> one_of_each_kind() {
  return {
      {"null", bytes_of("\xC0")},
      {"boolean", bytes_of("\xC3")},
      {"natural", raw_integer(3)},
      {"huge natural", raw_integer(~std::uint64_t{0})},
      {"negative", bytes_of("\xFF")},
      {"real", bytes_of(std::string("\xCB\x3F\xE0\0\0\0\0\0\0", 9))},
      {"text", raw_text("?")},
      {"bytes", bytes_of(std::string("\xC4\x01\x7F", 3))},
      {"list", bytes_of("\x91\xC2")},
      {"map", bytes_of(std::string("\x81\xA1k\xC2", 4))},
      {"extension", bytes_of(std::string("\xD4\x01\x00", 3))},
  };
}

}  // namespace hpsearch::test

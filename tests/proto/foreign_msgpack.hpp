#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hpsearch/proto/wire/wire.hpp"

// Takes messages apart and reassembles them with msgpack's own classes, to make messages of other programs or
// other versions.

namespace hpsearch::test {

/// A list of raw msgpack items, and one that is a map as raw keys and values.
struct Apart {
  std::vector<proto::Bytes> items;  ///< The items of the outer list; the last one is the body.
  std::vector<std::pair<std::string, proto::Bytes>> body;  ///< Members of that last item.
};

[[nodiscard]] Apart take_apart(std::span<const std::byte> message);
[[nodiscard]] proto::Bytes put_together(const Apart& apart);

/// The members of a raw map, and back.
[[nodiscard]] std::vector<std::pair<std::string, proto::Bytes>> members_of(std::span<const std::byte> map);
[[nodiscard]] proto::Bytes map_of(const std::vector<std::pair<std::string, proto::Bytes>>& members);
/// The items of a raw list.
[[nodiscard]] std::vector<proto::Bytes> items_of(std::span<const std::byte> list);
[[nodiscard]] bool is_map(std::span<const std::byte> value);
[[nodiscard]] bool is_list(std::span<const std::byte> value);

[[nodiscard]] proto::Bytes raw_text(const std::string& text);
[[nodiscard]] proto::Bytes raw_integer(std::uint64_t number);

/// One value of each kind, by the kind's name.
[[nodiscard]] std::vector<std::pair<std::string, proto::Bytes>> one_of_each_kind();

[[nodiscard]] proto::Bytes bytes_of(const std::string& raw);

}  // namespace hpsearch::test

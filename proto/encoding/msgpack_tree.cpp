#include "hpsearch/proto/encoding/msgpack_tree.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <new>
#include <string>

#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::proto {

using engine::Errc;
using engine::Error;

/// Stores bytes as nodes, in one pass. Most of the time of reading a log is spent here; msgpack-c's parser,
/// which calls a visitor for each value and key, took the largest part of a recovery.
class MsgpackParser {
 public:
  using Kind = MsgpackTree::Kind;
  using Node = MsgpackTree::Node;

  MsgpackParser(std::span<const std::byte> bytes, std::size_t depth_limit, MsgpackTree& tree)
      : begin_(bytes.data()),
        at_(bytes.data()),
        end_(bytes.data() + bytes.size()),
        depth_limit_(depth_limit),
        nodes_(tree.nodes_),
        around_(tree.open_) {
    around_.clear();
  }

  /// True if the bytes are one value; otherwise refused() gives the reason, and where() the place.
  bool parse() {
    do {
      std::uint8_t lead = 0;
      if (!take(lead) || !value(lead)) {
        return false;
      }
    } while (!complete());
    return at_ == end_ || refuse("something after the value");
  }

  [[nodiscard]] const char* refused() const noexcept { return refused_; }
  [[nodiscard]] std::size_t where() const noexcept { return static_cast<std::size_t>(at_ - begin_); }

 private:
  bool refuse(const char* what) noexcept {
    refused_ = what;
    return false;
  }

  /// Reads one value; of a list or map only the beginning.
  bool value(std::uint8_t lead) {
    if (lead >= 0xA0 && lead < 0xC0) {
      return text(lead & 0x1FU);
    }
    if (inner_.map && inner_.left % 2 == 0 && (lead < 0xD9 || lead > 0xDB)) {
      return refuse("a map key that is not a text");
    }
    if (lead < 0x80) {
      return natural(lead);
    }
    if (lead < 0x90) {
      return container(Kind::map, lead & 0x0FU);
    }
    if (lead < 0xA0) {
      return container(Kind::list, lead & 0x0FU);
    }
    if (lead >= 0xE0) {
      return integer(static_cast<std::int8_t>(lead));
    }
    return marked_value(lead);
  }

  /// A value that is only its first byte, which gives the type.
  bool marked_value(std::uint8_t lead) {
    switch (lead) {
      case 0xC0:
        add(Kind::null);
        return true;
      case 0xC2:
      case 0xC3:
        add(Kind::boolean).boolean = lead == 0xC3;
        return true;
      case 0xC4:
        return sized<std::uint8_t>([this](std::uint32_t size) { return contents(Kind::bytes, size); });
      case 0xC5:
        return sized<std::uint16_t>([this](std::uint32_t size) { return contents(Kind::bytes, size); });
      case 0xC6:
        return sized<std::uint32_t>([this](std::uint32_t size) { return contents(Kind::bytes, size); });
      case 0xCA:
        return sized<std::uint32_t>([this](std::uint32_t bits) { return real(std::bit_cast<float>(bits)); });
      case 0xCB:
        return sized<std::uint64_t>([this](std::uint64_t bits) { return real(std::bit_cast<double>(bits)); });
      case 0xCC:
        return sized<std::uint8_t>([this](std::uint8_t number) { return natural(number); });
      case 0xCD:
        return sized<std::uint16_t>([this](std::uint16_t number) { return natural(number); });
      case 0xCE:
        return sized<std::uint32_t>([this](std::uint32_t number) { return natural(number); });
      case 0xCF:
        return sized<std::uint64_t>([this](std::uint64_t number) { return natural(number); });
      case 0xD0:
        return sized<std::uint8_t>(
            [this](std::uint8_t bits) { return integer(static_cast<std::int8_t>(bits)); });
      case 0xD1:
        return sized<std::uint16_t>(
            [this](std::uint16_t bits) { return integer(static_cast<std::int16_t>(bits)); });
      case 0xD2:
        return sized<std::uint32_t>(
            [this](std::uint32_t bits) { return integer(static_cast<std::int32_t>(bits)); });
      case 0xD3:
        return sized<std::uint64_t>(
            [this](std::uint64_t bits) { return integer(static_cast<std::int64_t>(bits)); });
      case 0xD9:
        return sized<std::uint8_t>([this](std::uint32_t size) { return text(size); });
      case 0xDA:
        return sized<std::uint16_t>([this](std::uint32_t size) { return text(size); });
      case 0xDB:
        return sized<std::uint32_t>([this](std::uint32_t size) { return text(size); });
      case 0xDC:
        return sized<std::uint16_t>([this](std::uint32_t size) { return container(Kind::list, size); });
      case 0xDD:
        return sized<std::uint32_t>([this](std::uint32_t size) { return container(Kind::list, size); });
      case 0xDE:
        return sized<std::uint16_t>([this](std::uint32_t size) { return container(Kind::map, size); });
      case 0xDF:
        return sized<std::uint32_t>([this](std::uint32_t size) { return container(Kind::map, size); });
      case 0xC1:
        return refuse("a byte that msgpack does not use");
      default:  // C7 to C9, D4 to D8.
        return refuse("an extension type");
    }
  }

  /// The next bytes as a big-endian number.
  template <class Number>
  bool take(Number& number) noexcept {
    if (static_cast<std::size_t>(end_ - at_) < sizeof(Number)) {
      return refuse("nothing more, within a value");
    }
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
      bits = bits << 8U | std::to_integer<std::uint64_t>(at_[i]);
    }
    at_ += sizeof(Number);
    number = static_cast<Number>(bits);
    return true;
  }

  template <class Number, class Then>
  bool sized(Then then) {
    Number number = 0;
    return take(number) && then(number);
  }

  bool natural(std::uint64_t number) {
    add(Kind::natural).natural = number;
    return true;
  }

  bool integer(std::int64_t number) {
    if (number >= 0) {  // A signed form may have a positive number.
      return natural(static_cast<std::uint64_t>(number));
    }
    add(Kind::negative).negative = number;
    return true;
  }

  bool real(double number) {
    add(Kind::real).real = number;
    return true;
  }

  bool text(std::uint32_t size) {
    const auto* first = reinterpret_cast<const char*>(at_);
    return contents(Kind::text, size) && (is_utf8({first, size}) || refuse("text that is not UTF-8"));
  }

  bool contents(Kind kind, std::uint32_t size) {
    if (static_cast<std::size_t>(end_ - at_) < size) {
      return refuse("nothing more, within a value");
    }
    add(kind, size).bytes = reinterpret_cast<const char*>(at_);
    at_ += size;
    return true;
  }

  bool container(Kind kind, std::uint32_t size) {
    if (around_.size() == depth_limit_) {
      return refuse("too many values within values");
    }
    add(kind, size);
    around_.push_back(inner_);
    inner_.node = count_ - 1;
    inner_.map = kind == Kind::map;
    inner_.left = (inner_.map ? 2UL : 1UL) * size +
                  1;  // The 1 is the beginning of the value, which has just been read.
    return true;
  }

  Node& add(Kind kind, std::uint32_t size = 0) {
    if (count_ == nodes_.size()) {
      nodes_.resize(std::max<std::size_t>(64, 2 * nodes_.size()));
    }
    Node& node = nodes_[count_++];
    node.kind = kind;
    node.size = size;
    node.end = count_;
    return node;
  }

  /// Counts the value just read, and closes the lists and maps that it completes; true at the end of the
  /// value.
  bool complete() {
    while (--inner_.left == 0) {
      if (around_.empty()) {
        return true;
      }
      nodes_[inner_.node].end = count_;
      inner_ = around_.back();
      around_.pop_back();
    }
    return false;
  }

  const std::byte* begin_;
  const std::byte* at_;
  const std::byte* end_;
  std::size_t depth_limit_;
  std::vector<Node>& nodes_;
  std::uint32_t count_ = 0;
  MsgpackTree::Open inner_;                 // The parent of the next value; at first only a placeholder.
  std::vector<MsgpackTree::Open>& around_;  // The ancestors of that parent.
  const char* refused_ = nullptr;
};

engine::Status MsgpackTree::fill(std::span<const std::byte> bytes, const MsgpackLimits& limits) {
  if (bytes.size() > limits.bytes || bytes.size() >= std::numeric_limits<std::uint32_t>::max()) {
    return Error{Errc::corrupt, "msgpack of " + std::to_string(bytes.size()) + " bytes; at most " +
                                    std::to_string(limits.bytes) + " are read"};
  }
  MsgpackParser parser(bytes, limits.depth, *this);
  const char* refused = nullptr;
  try {
    refused = parser.parse() ? nullptr : parser.refused();
  } catch (const std::bad_alloc&) {
    refused = "more than there is memory for";
  }
  if (refused != nullptr) {
    return Error{Errc::corrupt, "not msgpack as we write it: " + std::string(refused) + " at byte " +
                                    std::to_string(parser.where())};
  }
  return engine::Done{};
}

const char* MsgpackItem::kind_name() const noexcept {
  switch (kind()) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return "a boolean";
    case Kind::natural:
    case Kind::negative:
      return "an integer";
    case Kind::real:
      return "a real number";
    case Kind::text:
      return "a text";
    case Kind::bytes:
      return "bytes";
    case Kind::list:
      return "a list";
    case Kind::map:
      return "a map";
  }
  return "";
}

}  // namespace hpsearch::proto

#include "msgpack_tree.hpp"

#include <limits>
#include <msgpack/unpack.hpp>
#include <new>
#include <string>
#include <utility>

#include "hpsearch/proto/utf8.hpp"

namespace hpsearch::proto {
namespace {

using engine::Errc;
using engine::Error;
using Kind = MsgpackTree::Kind;
using Node = MsgpackTree::Node;

/// Told by msgpack's parser what it sees; false ends the parse.
class TreeBuilder {
 public:
  explicit TreeBuilder(std::size_t depth_limit) : depth_limit_(depth_limit) {}

  bool visit_nil() { return add(Node(Kind::null)); }
  bool visit_boolean(bool value) {
    Node node(Kind::boolean);
    node.boolean = value;
    return add(node);
  }
  bool visit_positive_integer(std::uint64_t value) {
    Node node(Kind::natural);
    node.natural = value;
    return add(node);
  }
  bool visit_negative_integer(std::int64_t value) {
    if (value >= 0) {  // A signed form may hold a positive number.
      return visit_positive_integer(static_cast<std::uint64_t>(value));
    }
    Node node(Kind::negative);
    node.negative = value;
    return add(node);
  }
  bool visit_float32(float value) { return visit_float64(static_cast<double>(value)); }
  bool visit_float64(double value) {
    Node node(Kind::real);
    node.real = value;
    return add(node);
  }
  bool visit_str(const char* text, std::uint32_t size) {
    if (!is_utf8({text, size})) {
      return refuse("text that is not UTF-8");
    }
    at_key_ = false;
    return add_bytes(Kind::text, text, size);
  }
  bool visit_bin(const char* bytes, std::uint32_t size) { return add_bytes(Kind::bytes, bytes, size); }
  bool visit_ext(const char* /*bytes*/, std::uint32_t /*size*/) { return refuse("an extension type"); }

  bool start_array(std::uint32_t items) { return open(Kind::list, items); }
  bool start_array_item() { return true; }
  bool end_array_item() { return true; }
  bool end_array() { return close(); }
  bool start_map(std::uint32_t members) { return open(Kind::map, members); }
  bool start_map_key() {
    at_key_ = true;
    return true;
  }
  bool end_map_key() { return true; }
  bool start_map_value() { return true; }
  bool end_map_value() { return true; }
  bool end_map() { return close(); }

  void parse_error(std::size_t /*parsed*/, std::size_t /*where*/) {
    refuse("a byte that msgpack does not use");
  }
  void insufficient_bytes(std::size_t /*parsed*/, std::size_t /*where*/) {
    refuse("nothing more, within a value");
  }

  [[nodiscard]] const char* refused() const noexcept { return refused_; }
  [[nodiscard]] std::vector<Node> take() noexcept { return std::move(nodes_); }

 private:
  bool refuse(const char* what) {
    refused_ = what;
    return false;
  }

  bool add(Node node) {
    if (at_key_) {
      return refuse("a map key that is not a text");
    }
    node.end = static_cast<std::uint32_t>(nodes_.size() + 1);
    nodes_.push_back(node);
    return true;
  }

  bool add_bytes(Kind kind, const char* bytes, std::uint32_t size) {
    Node node(kind, size);
    node.bytes = bytes;
    return add(node);
  }

  bool open(Kind kind, std::uint32_t size) {
    if (open_.size() == depth_limit_) {
      return refuse("too many values within values");
    }
    open_.push_back(static_cast<std::uint32_t>(nodes_.size()));
    return add(Node(kind, size));
  }

  bool close() {
    nodes_[open_.back()].end = static_cast<std::uint32_t>(nodes_.size());
    open_.pop_back();
    return true;
  }

  std::size_t depth_limit_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> open_;  // Lists and maps around the next value, by index.
  bool at_key_ = false;
  const char* refused_ = nullptr;
};

Error corrupt(std::size_t at, const char* what) {
  return {Errc::corrupt,
          "not msgpack as we write it: " + std::string(what) + " at byte " + std::to_string(at)};
}

}  // namespace

engine::Result<MsgpackTree> MsgpackTree::read(std::span<const std::byte> bytes, const MsgpackLimits& limits) {
  if (bytes.size() > limits.bytes || bytes.size() >= std::numeric_limits<std::uint32_t>::max()) {
    return Error{Errc::corrupt, "msgpack of " + std::to_string(bytes.size()) + " bytes; at most " +
                                    std::to_string(limits.bytes) + " are read"};
  }
  std::size_t at = 0;
  try {
    TreeBuilder builder(limits.depth);
    const bool complete =
        msgpack::parse(reinterpret_cast<const char*>(bytes.data()), bytes.size(), at, builder);
    if (builder.refused() != nullptr) {
      return corrupt(at, builder.refused());
    }
    if (!complete || at != bytes.size()) {
      return corrupt(at, "something after the value");
    }
    return MsgpackTree(builder.take());
  } catch (const msgpack::unpack_error& error) {  // An extension type of 4 GiB.
    return corrupt(at, error.what());
  } catch (const std::bad_alloc&) {
    return corrupt(at, "more than there is memory for");
  }
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

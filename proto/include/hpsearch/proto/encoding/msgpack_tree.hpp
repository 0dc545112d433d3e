#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::proto {

/// Limits for untrusted msgpack. The number of values needs no limit: each takes at least one byte, and
/// claimed sizes are not trusted.
struct MsgpackLimits {
  std::size_t bytes = 0;
  std::size_t depth = 64;
};

class MsgpackItem;

/// One msgpack value and everything in it, checked and stored flat in the order of the bytes.
///
/// Has exactly one value with nothing after it; every map key is a text, every text is UTF-8, and nothing is
/// an extension type. Memory grows with the number of bytes, never with a length that they claim, and is
/// reused by the next fill(). Borrows: the bytes, for its texts.
class MsgpackTree {
 public:
  enum class Kind : std::uint8_t { null, boolean, natural, negative, real, text, bytes, list, map };

  /// Replaces the content by that of `bytes`. corrupt, with the position: the bytes don't satisfy the
  /// above, or exceed a limit; then the tree must not be used.
  [[nodiscard]] engine::Status fill(std::span<const std::byte> bytes, const MsgpackLimits& limits);

  /// Only after a successful fill().
  [[nodiscard]] MsgpackItem root() const noexcept;

  struct Node {
    Kind kind;
    std::uint32_t size;     ///< Bytes of text or bytes; items of a list; members of a map.
    std::uint32_t end = 0;  ///< Index after the last node below this one.
    union {
      bool boolean;
      std::uint64_t natural;
      std::int64_t negative;
      double real;
      const char* bytes;
    };

    Node() : kind(Kind::null), size(0), natural(0) {}
  };

 private:
  friend class MsgpackParser;

  /// A list or map that isn't complete yet.
  struct Open {
    std::uint32_t node = 0;
    bool map = false;
    std::uint64_t left = 1;  ///< Values that are missing; a member of a map counts as two.
  };

  std::vector<Node> nodes_;  // Longer than the value: nodes after its end are from an earlier value.
  std::vector<Open> open_;
};

/// One value of a tree, which must outlive it.
class MsgpackItem {
 public:
  using Kind = MsgpackTree::Kind;

  MsgpackItem(const MsgpackTree::Node* nodes, std::uint32_t index) : nodes_(nodes), index_(index) {}

  [[nodiscard]] Kind kind() const noexcept { return node().kind; }
  [[nodiscard]] const char* kind_name() const noexcept;  ///< "a text", "a list": for messages.

  // Each only for its own kind.
  [[nodiscard]] bool boolean() const noexcept { return node().boolean; }
  [[nodiscard]] std::uint64_t natural() const noexcept { return node().natural; }
  [[nodiscard]] std::int64_t negative() const noexcept { return node().negative; }
  [[nodiscard]] double real() const noexcept { return node().real; }
  [[nodiscard]] std::string_view text() const noexcept { return {node().bytes, node().size}; }
  [[nodiscard]] std::string_view bytes() const noexcept { return {node().bytes, node().size}; }
  [[nodiscard]] std::uint32_t size() const noexcept { return node().size; }

  /// The first item of a list, or the first key of a map: only when size() is not 0.
  [[nodiscard]] MsgpackItem first() const noexcept { return {nodes_, index_ + 1}; }
  /// The item after this one; after a key comes its value. Only when there is one.
  [[nodiscard]] MsgpackItem next() const noexcept { return {nodes_, node().end}; }

 private:
  [[nodiscard]] const MsgpackTree::Node& node() const noexcept { return nodes_[index_]; }

  const MsgpackTree::Node* nodes_;
  std::uint32_t index_;
};

inline MsgpackItem MsgpackTree::root() const noexcept {
  return {nodes_.data(), 0};
}

}  // namespace hpsearch::proto

#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/proto/encoding/spelling.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::proto {

/// Reads structs directly from msgpack in exactly the form that a MsgpackWriter writes: members in the
/// order of their spelling, each once, and no others. Nearly all events of a log have this form.
///
/// Refuses everything else, valid or not, without a reason: a MsgpackTree reads the same bytes more slowly
/// and gives the reason. If this reader accepts bytes, a tree gives the same value. After a refusal, the
/// reader and its output must not be used.
class StraightReader {
 public:
  /// `spare`: lists of metrics that are no longer used, whose memory is reused.
  StraightReader(std::span<const std::byte> bytes, std::vector<engine::Metrics>& spare)
      : at_(reinterpret_cast<const unsigned char*>(bytes.data())), end_(at_ + bytes.size()), spare_(spare) {}

  [[nodiscard]] bool finished() const noexcept { return at_ == end_; }

  /// The beginning of a list of exactly this many items, at most 15.
  [[nodiscard]] bool list_of(std::uint32_t items) noexcept { return take_lead(0x90U | items); }

  /// Skips a key of at most 31 bytes if it is next. When inlined, it compares constants.
  [[nodiscard, gnu::always_inline]] bool take_key(std::string_view key) noexcept {
    if (left() <= key.size() || *at_ != (0xA0U | key.size()) ||
        std::memcmp(at_ + 1, key.data(), key.size()) != 0) {
      return false;
    }
    at_ += key.size() + 1;
    return true;
  }
  [[nodiscard]] bool take_null() noexcept { return take_lead(0xC0); }

  [[nodiscard]] bool read(bool& out) noexcept {
    out = left() > 0 && *at_ == 0xC3;
    return out ? take_lead(0xC3) : take_lead(0xC2);
  }
  [[nodiscard]] bool read(std::uint64_t& out) noexcept {
    if (left() == 0) {
      return false;
    }
    const unsigned lead = *at_++;
    if (lead < 0x80) {
      out = lead;
      return true;
    }
    return lead >= 0xCC && lead <= 0xCF && take_number(std::size_t{1} << (lead - 0xCC), out);
  }
  [[nodiscard]] bool read(std::uint32_t& out) noexcept {
    std::uint64_t wide = 0;
    const bool fits = read(wide) && wide <= std::numeric_limits<std::uint32_t>::max();
    out = static_cast<std::uint32_t>(wide);
    return fits;
  }
  [[nodiscard]] bool read(int& out) noexcept {
    std::uint64_t wide = 0;
    const bool fits = read(wide) && wide <= static_cast<std::uint64_t>(std::numeric_limits<int>::max());
    out = static_cast<int>(wide);
    return fits;
  }
  [[nodiscard]] bool read(double& out) noexcept {
    std::uint64_t bits = 0;
    const bool real = take_lead(0xCB) && take_number(8, bits);
    out = std::bit_cast<double>(bits);
    return real;
  }
  [[nodiscard]] bool read(std::string_view& out) noexcept { return read_bytes(out) && is_utf8(out); }
  /// A text that the caller compares with known texts, all of which are UTF-8.
  [[nodiscard]] bool read_bytes(std::string_view& out) noexcept {
    std::uint32_t size = 0;
    if (take_lead(0xD9)) {
      std::uint64_t wide = 0;
      if (!take_number(1, wide) || wide > left()) {
        return false;
      }
      size = static_cast<std::uint32_t>(wide);
    } else if (!take_size(0xA0, 32, 0xDA, size)) {
      return false;
    }
    out = {reinterpret_cast<const char*>(at_), size};
    at_ += size;
    return true;
  }
  [[nodiscard]] bool read(std::string& out) {
    std::string_view text;
    const bool is_text = read(text);
    out = text;
    return is_text;
  }
  [[nodiscard]] bool read(engine::Units& out) noexcept {
    std::uint64_t units = 0;
    const bool natural = read(units);
    out = engine::Units{units};
    return natural;
  }
  [[nodiscard]] bool read(engine::Duration& out) noexcept {
    constexpr std::uint64_t longest_ms = std::uint64_t{1} << 52U;  // Fits in microseconds, too.
    std::uint64_t millis = 0;
    const bool natural = read(millis) && millis <= longest_ms;
    out = engine::Duration::millis(natural ? static_cast<std::int64_t>(millis) : 0);
    return natural;
  }
  template <class Kind>
  [[nodiscard]] bool read(engine::Id<Kind>& out) noexcept {
    std::uint64_t number = 0;
    const bool natural = read(number);
    out = engine::Id<Kind>(number);
    return natural;
  }
  template <Worded Enum>
  [[nodiscard]] bool read(Enum& out) {
    std::string_view word;
    const std::optional<Enum> found = read_bytes(word) ? Words<Enum>::find(word) : std::nullopt;
    out = found.value_or(Enum{});
    return found.has_value();
  }
  template <class T>
  [[nodiscard]] bool read(std::optional<T>& out) {
    if (take_null()) {
      out.reset();
      return true;
    }
    return read(out.emplace());
  }
  template <class T>
  [[nodiscard]] bool read(std::vector<T>& out) {
    std::uint32_t size = 0;
    if (!take_size(0x90, 16, 0xDC, size)) {
      return false;
    }
    out.clear();
    out.reserve(size);
    for (; size > 0; --size) {
      if (!read(out.emplace_back())) {
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] bool read(engine::Metrics& out) {
    std::uint32_t size = 0;
    if (!take_size(0x80, 16, 0xDE, size)) {
      return false;
    }
    if (out.capacity() == 0 && !spare_.empty()) {
      out = std::move(spare_.back());
      spare_.pop_back();
    }
    out.clear();
    out.reserve(size);
    for (; size > 0; --size) {
      std::string_view name;
      double value = 0;
      if (!read(name) || !read(value) || (!out.empty() && name <= out.back().first)) {
        return false;
      }
      out.emplace_back(name, value);
    }
    return true;
  }
  [[nodiscard]] bool read(std::map<std::string, std::string>& out) {
    std::uint32_t size = 0;
    if (!take_size(0x80, 16, 0xDE, size)) {
      return false;
    }
    out.clear();
    for (; size > 0; --size) {
      std::string name;
      std::string value;
      if (!read(name) || !read(value) || (!out.empty() && name <= out.rbegin()->first)) {
        return false;
      }
      out.emplace_hint(out.end(), std::move(name), std::move(value));
    }
    return true;
  }
  [[nodiscard]] bool read(engine::Value& out) { return read_value(out, 0); }

  template <Spelled T>
  [[nodiscard]] bool read(T& out) {
    std::uint32_t members = 0;
    return take_size(0x80, 16, 0xDE, members) && read_members(members, out);
  }
  template <class... Alternatives>
  [[nodiscard]] bool read(std::variant<Alternatives...>& out) {
    std::uint32_t members = 0;
    std::string_view tag;
    return take_size(0x80, 16, 0xDE, members) && members > 0 && take_key("type") && read_bytes(tag) &&
           read_alternative(tag, out, [&](auto& body) {
             return read_members(members - 1, body);
           }).value_or(false);
  }

 private:
  /// Reads the members of one map in the order of a spelling.
  class Fields {
   public:
    Fields(StraightReader& in, std::uint32_t left) : in_(in), left_(left) {}

    template <class T>
    [[gnu::always_inline]] void operator()(std::string_view key, T& member) {
      good_ = good_ && is_next(key) && in_.read(member);
    }
    /// If a member isn't next, it is absent, or finished() is false at the end.
    template <class T>
    [[gnu::always_inline]] void maybe(std::string_view key, T& member) {
      good_ = good_ && (!is_next(key) || in_.take_null() || in_.read(member));
    }
    void bytes(std::string_view /*key*/, std::string& /*member*/) { good_ = false; }

    [[nodiscard]] bool finished() const noexcept { return good_ && left_ == 0; }

   private:
    [[gnu::always_inline]] bool is_next(std::string_view key) {
      if (left_ == 0 || !in_.take_key(key)) {
        return false;
      }
      --left_;
      return true;
    }

    StraightReader& in_;
    std::uint32_t left_;
    bool good_ = true;
  };

  template <class T>
  [[nodiscard]] bool read_members(std::uint32_t members, T& out) {
    Fields fields(*this, members);
    spell(fields, out);
    return fields.finished();
  }

  [[nodiscard]] bool read_value(engine::Value& out, int depth);

  [[nodiscard]] std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }

  bool take_lead(unsigned lead) noexcept {
    if (left() == 0 || *at_ != lead) {
      return false;
    }
    ++at_;
    return true;
  }

  /// A big-endian number of 1, 2, 4 or 8 bytes.
  bool take_number(std::size_t bytes, std::uint64_t& out) noexcept {
    if (left() < bytes) {
      return false;
    }
    switch (bytes) {
      case 1:
        out = *at_;
        break;
      case 2:
        out = load<std::uint16_t>();
        break;
      case 4:
        out = load<std::uint32_t>();
        break;
      default:
        out = load<std::uint64_t>();
        break;
    }
    at_ += bytes;
    return true;
  }

  template <class Number>
  [[nodiscard]] Number load() const noexcept {
    Number number = 0;
    for (std::size_t i = 0; i < sizeof number;
         ++i) {  // Compilers that recognize this loop turn it into one load and one swap.
      number = static_cast<Number>(number << 8U | at_[i]);
    }
    return number;
  }

  /// A size below `shorts` in the lead byte, or in two bytes after `lead16`. A size above the number of
  /// remaining bytes is refused, because each item takes at least one.
  bool take_size(unsigned short_lead, unsigned shorts, unsigned lead16, std::uint32_t& size) noexcept {
    if (left() == 0) {
      return false;
    }
    const unsigned lead = *at_++;
    std::uint64_t wide = lead - short_lead;
    if ((lead < short_lead || wide >= shorts) && (lead != lead16 || !take_number(2, wide))) {
      return false;
    }
    size = static_cast<std::uint32_t>(wide);
    return wide <= left();
  }

  const unsigned char* at_;
  const unsigned char* end_;
  std::vector<engine::Metrics>& spare_;
};

inline bool StraightReader::read_value(engine::Value& out, int depth) {
  constexpr int deepest = 16;  // Less than a tree accepts.
  if (left() == 0 || depth > deepest) {
    return false;
  }
  const unsigned lead = *at_;
  if (lead < 0x80 || (lead >= 0xCC && lead <= 0xCF)) {
    std::uint64_t number = 0;
    const bool fits =
        read(number) && number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    out = static_cast<std::int64_t>(number);
    return fits;
  }
  if (lead == 0xCB) {
    double number = 0;
    const bool real = read(number);
    out = number;
    return real;
  }
  if ((lead >= 0xA0 && lead < 0xC0) || (lead >= 0xD9 && lead <= 0xDA)) {
    std::string_view text;
    const bool is_text = read(text);
    out = text;
    return is_text;
  }
  if (lead >= 0x80 && lead < 0x90) {
    ++at_;
    engine::Value::Map members;
    std::string_view before;
    for (unsigned size = lead & 0x0FU; size > 0; --size) {
      std::string_view key;
      if (!read(key) || (!members.empty() && key <= before) || !read_value(members[key], depth + 1)) {
        return false;
      }
      before = key;
    }
    out = std::move(members);
    return true;
  }
  return false;  // Lists, long maps and the rest are rare, so a tree reads them.
}

}  // namespace hpsearch::proto

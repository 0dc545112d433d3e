#include "experiment/report_digest.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

namespace hpsearch::engine {
namespace {

/// Eight bytes at a time; the steps are those of MurmurHash3's 64-bit finalizer (A. Appleby, public domain).
class Digest {
 public:
  void number(std::uint64_t number) noexcept {
    hash_ = (hash_ ^ number) * 0xff51afd7ed558ccdU;
    hash_ ^= hash_ >> 33U;
  }
  void text(std::string_view text) noexcept {
    number(text.size());
    for (; text.size() >= sizeof(std::uint64_t); text.remove_prefix(sizeof(std::uint64_t))) {
      word(text.data(), sizeof(std::uint64_t));
    }
    word(text.data(), text.size());
  }

  void operator()(const MetricsReport& report) noexcept {
    number(count(report.step));
    for (const auto& [name, value] : report.metrics) {
      text(name);
      number(std::bit_cast<std::uint64_t>(value));
    }
  }
  void operator()(const CheckpointReport& report) noexcept {
    number(count(report.step));
    text(report.path);
    number(report.files);
    number(report.bytes);
  }
  void operator()(const InvalidHparamsReport& report) noexcept { text(report.why); }
  void operator()(const ExitReport& report) noexcept {
    number(static_cast<std::uint64_t>(report.cause));
    number(static_cast<std::uint64_t>(static_cast<std::int64_t>(report.code)));
    text(report.message);
    text(report.log_tail);
  }
  void operator()(const NoteReport& report) noexcept {
    text(report.about);
    text(report.text);
  }

  void operator()(const UnmeasuredReport& report) noexcept { number(count(report.step)); }

  [[nodiscard]] std::uint64_t value() const noexcept { return hash_; }

 private:
  void word(const char* bytes, std::size_t size) noexcept {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < size; ++i) {  // One load, where compilers see through it.
      word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    }
    number(word);
  }

  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

}  // namespace

std::uint64_t digest_of(const Report& report) {
  Digest digest;
  digest.number(report.index());
  std::visit([&digest](const auto& known) { digest(known); }, report);
  return digest.value();
}

}  // namespace hpsearch::engine

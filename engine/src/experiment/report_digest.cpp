#include "experiment/report_digest.hpp"

#include <bit>
#include <string_view>

namespace hpsearch::engine {
namespace {

class Fnv {
 public:
  void number(std::uint64_t number) noexcept {
    for (int byte = 0; byte < 8; ++byte) {
      mix(static_cast<unsigned char>(number >> (8 * byte)));
    }
  }
  void text(std::string_view text) noexcept {
    number(text.size());
    for (const char c : text) {
      mix(static_cast<unsigned char>(c));
    }
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

  [[nodiscard]] std::uint64_t value() const noexcept { return hash_; }

 private:
  void mix(unsigned char byte) noexcept { hash_ = (hash_ ^ byte) * 0x100000001b3U; }
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

}  // namespace

std::uint64_t digest_of(const Report& report) noexcept {
  Fnv fnv;
  fnv.number(report.index());
  std::visit(fnv, report);
  return fnv.value();
}

}  // namespace hpsearch::engine

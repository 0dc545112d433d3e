#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

// What the fuzzer (libfuzzer.cpp) and the ordinary tests (replay_test.cpp) run: the readers of bytes that
// come from outside.

namespace hpsearch::fuzz {

using Seeds = std::vector<std::string>;

/// A reader under test. Its source registers it with a static `Registered`.
struct Target {
  std::string_view name;  ///< Of its executable (fuzz_<name>) and of its source.
  /// Reads the bytes and aborts (HPSEARCH_CHECK) if the reader breaks a promise. Keeps no state between
  /// calls.
  void (*run)(std::string_view bytes);
  /// Real encodings to start from, made by the code that writes them where there is such code.
  Seeds (*seeds)();
  /// So many changed seeds run in the ordinary tests, in a fraction of a second.
  int changes = 3'000;
};

struct Registered {
  explicit Registered(const Target& target);
};

/// All that are linked in, in order of their names.
[[nodiscard]] std::vector<Target> targets();

/// The content of every file in a folder of the source tree ("tests/golden/store_v1"), in order of the names.
[[nodiscard]] Seeds files_in(std::string_view folder);
[[nodiscard]] std::string file_at(std::string_view path);

[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// Cuts one input into parts: the input of a reader with several arguments, or a sequence of messages.
/// At the end of the bytes, numbers are 0 and chunks are empty.
class Parts {
 public:
  explicit Parts(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool done() const noexcept { return rest_.empty(); }
  unsigned byte();
  /// As many bytes as the two before them say, lowest first; as many as there are if that is more.
  std::string_view chunk();
  std::string_view rest();

 private:
  std::string_view rest_;
};

/// The part that chunk() reads.
[[nodiscard]] std::string as_chunk(std::string_view bytes);

}  // namespace hpsearch::fuzz

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "fuzz/target.hpp"
#include "scratch.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
inline constexpr int slowness = 5;
#else
inline constexpr int slowness = 1;
#endif

// The fuzz targets without a fuzzer: their seeds, and changes of them that a seed decides. HPSEARCH_TEST_SEED
// draws others, HPSEARCH_TEST_EFFORT=100 a hundred times as many. A broken promise ends the program, which
// then writes the input into the file that it names; build/fuzz/tests/fuzz/fuzz_<target> FILE runs that one
// alone.

namespace hpsearch::fuzz {

void PrintTo(const Target& target,
             std::ostream* out) {  // NOLINT(readability-identifier-naming): GoogleTest's name.
  *out << target.name;
}

namespace {

constexpr unsigned usual_seed = 20'261'126;

/// What is running, for whoever looks at a crash.
std::string_view running_target;
std::string_view running_input;

void tell_running_input() {
  std::string path = (std::filesystem::temp_directory_path() / "hpsearch-fuzz-").string();
  path += std::string(running_target) + "-" + std::to_string(::getpid());
  write_text(path, std::string(running_input));
  std::fprintf(stderr, "the input of the fuzz target %s is in %s (seed %llu)\n",
               std::string(running_target).c_str(), path.c_str(), test_seed(usual_seed));
}

void on_crash(int signal) {
  std::signal(signal, SIG_DFL);
  tell_running_input();
  std::raise(signal);
}

/// A sanitizer has its own way to end a program.
void tell_what_runs_at_a_crash() {
  std::signal(SIGABRT, &on_crash);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(&tell_running_input);
#elif !defined(__SANITIZE_THREAD__)
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    std::signal(signal, &on_crash);
  }
#endif
}

void run_one(const Target& target, const std::string& input) {
  // Of exactly this size: the address sanitizer then sees a read behind the end.
  const auto bytes = std::make_unique<char[]>(input.size());  // NOLINT(modernize-avoid-c-arrays)
  std::memcpy(bytes.get(), input.data(), input.size());
  running_target = target.name;
  running_input = {bytes.get(), input.size()};
  target.run(running_input);
}

class Changes {
 public:
  Changes(const Seeds& seeds, std::mt19937_64& random) : seeds_(seeds), random_(random) {}

  /// A seed with one to eight changes.
  std::string next() {
    std::string input = any_seed();
    for (std::size_t left = 1 + below(8); left > 0; --left) {
      change(input);
    }
    return input;
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  const std::string& any_seed() { return seeds_.at(below(seeds_.size())); }
  /// Short ones are more likely.
  std::size_t length_within(std::size_t most) {
    return 1 + below(std::min(most, std::size_t{1} << below(10)));
  }

  void change(std::string& input) {
    using std::string_view_literals::operator""sv;
    static constexpr std::string_view odd = "\0\1\x7F\x80\xFF\"{}[]:,\n\r %'\\-0"sv;
    if (input.empty()) {
      input = any_seed();
      return;
    }
    const std::size_t at = below(input.size());
    switch (below(7)) {
      case 0:
        input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
        break;
      case 1:
        input[at] = odd[below(odd.size())];
        break;
      case 2:
        input[at] = static_cast<char>(input[at] + static_cast<int>(below(9)) - 4);
        break;
      case 3:
        input.erase(at, length_within(input.size() - at));
        break;
      case 4:  // A part twice.
        input.insert(below(input.size()), input.substr(at, length_within(input.size() - at)));
        break;
      case 5: {  // A part of another.
        const std::string& other = any_seed();
        if (!other.empty()) {
          const std::size_t from = below(other.size());
          input.replace(at, below(2) * length_within(input.size() - at),
                        other.substr(from, length_within(other.size() - from)));
        }
        break;
      }
      default:
        input.resize(at);
    }
  }

  const Seeds& seeds_;
  std::mt19937_64& random_;
};

class FuzzTarget : public testing::TestWithParam<Target> {};

TEST_P(FuzzTarget, KeepsItsPromisesForSeedsAndChangesOfThem) {
  tell_what_runs_at_a_crash();
  const Target& target = GetParam();
  const Seeds seeds = target.seeds();
  ASSERT_FALSE(seeds.empty());
  run_one(target, "");
  for (const std::string& seed : seeds) {
    run_one(target, seed);
  }
  std::mt19937_64 random(test_seed(usual_seed));
  Changes changes(seeds, random);
  for (int i = 0; i < target.changes / slowness * test_effort(); ++i) {
    run_one(target, changes.next());
  }
}

INSTANTIATE_TEST_SUITE_P(All, FuzzTarget, testing::ValuesIn(targets()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hpsearch::fuzz

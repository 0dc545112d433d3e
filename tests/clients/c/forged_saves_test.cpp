// Saved searches and logs that were changed by somebody who computed their checksums again: they are refused
// with the place, or taken. HPSEARCH_TEST_SEED draws others, HPSEARCH_TEST_EFFORT=100 a hundred times as
// many; HPSEARCH_CASE=n begins with the n-th of them.

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <random>

#include "forged/forged_logs.hpp"
#include "scratch.hpp"

namespace hpsearch::forged {
namespace {

constexpr unsigned usual_seed = 43;

unsigned long long seed_of_test = 0;
volatile unsigned long running_case = 0;

void tell_case(int signal) {
  std::signal(signal, SIG_DFL);
  std::fprintf(stderr, "replay with HPSEARCH_TEST_SEED=%llu HPSEARCH_CASE=%lu\n", seed_of_test,
               static_cast<unsigned long>(running_case));
  std::raise(signal);
}

unsigned long first_case() {
  const char* text = std::getenv("HPSEARCH_CASE");
  return text == nullptr ? 0 : std::strtoul(text, nullptr, 10);
}

class Forged : public testing::Test {
 protected:
  /// `use` returns what came of one.
  template <class Use>
  void run(const std::vector<Lines>& logs, unsigned long cases, Use use) {
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGTERM}) {
      std::signal(signal, &tell_case);
    }
    seed_of_test = test_seed(usual_seed);
    std::cout << "seed " << seed_of_test << std::endl;
    for (const Lines& log : logs) {
      EXPECT_EQ(use(log, 0), Outcome::lived_on) << text_of(log);
    }
    std::array<unsigned long, 3> outcomes{};
    for (unsigned long number = first_case(); number < cases; ++number) {
      running_case = number;
      std::mt19937_64 random(seed_of_test * 1'000'003 + number);
      ++outcomes.at(static_cast<std::size_t>(use(forge(logs, random), number)));
    }
    std::cout << "no events " << outcomes[0] << ", refused " << outcomes[1] << ", taken " << outcomes[2]
              << std::endl;
    if (first_case() == 0) {
      EXPECT_GT(outcomes[1], cases / 20);
      EXPECT_GT(outcomes[2], cases / 20);
    }
  }
  static unsigned long cases(unsigned long usual) {
    return usual * static_cast<unsigned long>(test_effort());
  }
};

TEST_F(Forged, LogIsRefusedWithItsEventOrTaken) {
  const std::vector<Lines> logs = logs_of_clusters(test_seed(usual_seed), 24);
  for (const Lines& log : logs) {
    std::string why;
    EXPECT_EQ(replay(log, 0, &why), Outcome::lived_on) << why;
  }
  run(logs, cases(900), [](const Lines& lines, unsigned long number) { return replay(lines, number); });
}

TEST_F(Forged, SavedSearchIsRefusedWithItsPlaceOrTaken) {
  run(logs_of_searches(test_seed(usual_seed), 24), cases(1'200),
      [](const Lines& lines, unsigned long) { return load(text_of(lines)); });
}

}  // namespace
}  // namespace hpsearch::forged

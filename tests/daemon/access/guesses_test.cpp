#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "daemon/access/authentication.hpp"
#include "daemon/access/tokens.hpp"
#include "scratch.hpp"

// A client that guesses tokens learns nothing from the answers: neither from their texts nor from their
// timing.

namespace hpsearch::daemon {
namespace {

using engine::Duration;
using engine::Instant;

constexpr std::size_t samples_of_each = 10'000;
constexpr double most_t = 4.5;  // Beyond it, two means differ by chance once in 150,000 times.
constexpr int most_rounds = 5;  // On a busy machine; what a token reveals shows in each round.
// A smaller difference is a branch, which cannot be measured through a socket.
constexpr double most_nanoseconds = 50;
constexpr double kept_share = 0.8;  // Share of the samples: the slowest are interruptions.

const Instant now = Instant::from_micros(1'800'000'000'000'000);

class Guesses : public testing::Test {
 protected:
  Guesses() {
    const auto make = [this](const std::string& name, Duration life, Instant at) {
      const auto made = tokens_.create(name, Role::viewer, life, "uid 0", at);
      EXPECT_TRUE(made) << made.error().message;
      return made ? made->text : "";
    };
    const std::string known = make("known", Tokens::usual_life, now);
    for (int i = 0; i < 20; ++i) {
      make("another " + std::to_string(i), Tokens::usual_life, now);
    }
    const std::string revoked = make("revoked", Tokens::usual_life, now);
    EXPECT_TRUE(tokens_.revoke(read_token(revoked)->id));
    // Made last: a change of tokens removes those that have expired.
    const std::string expired = make("expired", Duration::seconds(60), now);
    guesses_ = {{"unknown", Token{"aaaaaaaa", new_secret()}.text()},
                {"wrong secret", Token{read_token(known)->id, new_secret()}.text()},
                {"revoked", revoked},
                {"expired", expired}};
  }

  struct Guess {
    std::string name;
    std::string token;
  };

  net::HttpResponse answer_to(const Guess& guess) {
    net::HttpRequest request;
    request.method = "GET";
    request.path = "/api/v1/status";
    request.peer = {{}, "10.0.0.7"};
    request.headers = {{"Authorization", "Bearer " + guess.token}};
    auto answer = authentication_.caller_of(request, now + Duration::seconds(61));
    EXPECT_TRUE(std::holds_alternative<net::HttpResponse>(answer)) << guess.name;
    return std::get<net::HttpResponse>(std::move(answer));
  }

  Scratch folder_;
  Tokens tokens_{folder_.path().string()};
  Authentication authentication_{tokens_, {.owner = 1'000}};
  std::vector<Guess> guesses_;
};

TEST_F(Guesses, GetTheSameTextForAnyError) {
  const net::HttpResponse first = answer_to(guesses_.front());
  EXPECT_EQ(first.status, 401U);
  const std::string& words = first.body;
  EXPECT_NE(words.find("the token is wrong, has expired or was revoked"), std::string::npos) << words;
  for (const Guess& guess : guesses_) {
    EXPECT_EQ(answer_to(guess).body, words) << guess.name;
  }
  EXPECT_EQ(answer_to(guesses_.front()).status, 429U) << "the sixth of a minute";
}

/// Nanoseconds without the slowest.
struct Times {
  std::vector<double> all;

  void leave_out_interruptions() {
    std::sort(all.begin(), all.end());
    all.resize(static_cast<std::size_t>(static_cast<double>(all.size()) * kept_share));
  }
  [[nodiscard]] double mean() const {
    double sum = 0;
    for (const double one : all) {
      sum += one;
    }
    return sum / static_cast<double>(all.size());
  }
  /// Variance of the mean.
  [[nodiscard]] double variance() const {
    const double middle = mean();
    double sum = 0;
    for (const double one : all) {
      sum += (one - middle) * (one - middle);
    }
    const auto count = static_cast<double>(all.size());
    return sum / (count - 1) / count;
  }
};

/// Welch's t for the means of two samples.
double welch_t(const Times& a, const Times& b) {
  return std::abs(a.mean() - b.mean()) / std::sqrt(a.variance() + b.variance());
}

bool differ(const Times& a, const Times& b) {
  return std::abs(a.mean() - b.mean()) > most_nanoseconds && welch_t(a, b) > most_t;
}

TEST_F(Guesses, TakeTheSameTimeForAnyError) {
  std::mt19937_64 random(test_seed(20'261'127));
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < guesses_.size() * samples_of_each; ++i) {
    order.push_back(i % guesses_.size());
  }
  std::string measured;
  for (int round = 0; round < most_rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    std::vector<Times> times(guesses_.size());
    for (const std::size_t which : order) {
      net::HttpRequest request;
      request.method = "GET";
      request.path = "/api/v1/status";
      request.peer = {{}, "10.0.0.7"};
      request.headers = {{"Authorization", "Bearer " + guesses_[which].token}};
      const auto began = std::chrono::steady_clock::now();
      const auto answer = authentication_.caller_of(request, now + Duration::seconds(61));
      const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - began;
      ASSERT_TRUE(std::holds_alternative<net::HttpResponse>(answer));
      times[which].all.push_back(took.count());
    }
    measured.clear();
    bool equal = true;
    for (std::size_t i = 0; i < times.size(); ++i) {
      times[i].leave_out_interruptions();
      equal = equal && !differ(times.front(), times[i]);
      measured += guesses_[i].name + ": " + std::to_string(times[i].mean()) + " ns, t " +
                  std::to_string(welch_t(times.front(), times[i])) + "\n";
    }
    if (equal) {
      return;
    }
  }
  FAIL() << "an answer takes another time than that to an unknown token, in each of " << most_rounds
         << " rounds\n"
         << measured;
}

}  // namespace
}  // namespace hpsearch::daemon

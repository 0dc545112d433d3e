#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

// Clients that ask for trials and report, as fast as the daemon answers: ask_bench SOCKET EXPERIMENT CLIENTS
// SECONDS. Each request waits for its answer, which the daemon gives when everything is on disk. Prints JSON.

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& why) {
  std::cerr << "ask_bench: " << why << '\n';
  std::exit(1);
}

/// One connection that is kept.
class Client {
 public:
  explicit Client(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un place{};
    place.sun_family = AF_UNIX;
    if (path.size() >= sizeof place.sun_path) {
      fail(path + " is too long for a socket");
    }
    std::memcpy(place.sun_path, path.c_str(), path.size() + 1);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0) {
      fail("nobody listens at " + path);
    }
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { ::close(socket_); }

  /// The body of the answer; the view holds until the next request.
  std::string_view post(const std::string& target, const std::string& body) {
    const std::string request = "POST " + target +
                                " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
                                "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    for (std::size_t sent = 0; sent < request.size();) {
      const ssize_t some = ::send(socket_, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
      if (some <= 0) {
        fail("the daemon has closed the connection");
      }
      sent += static_cast<std::size_t>(some);
    }
    answer_.clear();
    std::size_t head = std::string::npos;
    std::size_t length = 0;
    while (head == std::string::npos || answer_.size() < head + length) {
      char piece[16 * 1024];
      const ssize_t some = ::recv(socket_, piece, sizeof piece, 0);
      if (some <= 0) {
        fail("the daemon has closed the connection after " + answer_);
      }
      answer_.append(piece, static_cast<std::size_t>(some));
      if (head == std::string::npos && (head = answer_.find("\r\n\r\n")) != std::string::npos) {
        head += 4;
        length = number_behind(std::string_view(answer_).substr(0, head), "Content-Length: ");
      }
    }
    if (!std::string_view(answer_).starts_with("HTTP/1.1 200")) {
      fail(answer_);
    }
    return std::string_view(answer_).substr(head, length);
  }

  static std::uint64_t number_behind(std::string_view text, std::string_view name) {
    const std::size_t at = text.find(name);
    std::uint64_t number = 0;
    if (at == std::string_view::npos ||
        std::from_chars(text.data() + at + name.size(), text.data() + text.size(), number).ec !=
            std::errc{}) {
      fail("there is no " + std::string(name) + " in " + std::string(text));
    }
    return number;
  }

 private:
  int socket_;
  std::string answer_;
};

struct Lease {
  std::uint64_t trial = 0;
  std::uint64_t lease = 0;
  std::uint64_t step = 0;
};

struct Work {
  std::vector<Lease> leases;
  std::vector<double> seconds;  // How long each request took.
};

/// How long each request of all clients took.
struct Figures {
  double per_second = 0;
  double p50 = 0;
  double p99 = 0;
};

template <class Task>
Figures measure(std::vector<Work>& all, double seconds, const std::string& socket, const Task& task) {
  const auto began = Clock::now();
  const auto until =
      began + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::vector<std::thread> threads;
  for (Work& work : all) {
    work.seconds.clear();
    threads.emplace_back([&work, &socket, &task, until] {
      Client client(socket);
      for (auto now = Clock::now(); now < until;) {
        task(client, work);
        const auto after = Clock::now();
        work.seconds.push_back(std::chrono::duration<double>(after - now).count());
        now = after;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const double took = std::chrono::duration<double>(Clock::now() - began).count();
  std::vector<double> together;
  for (const Work& work : all) {
    together.insert(together.end(), work.seconds.begin(), work.seconds.end());
  }
  std::sort(together.begin(), together.end());
  if (together.empty()) {
    fail("nothing was answered");
  }
  return {static_cast<double>(together.size()) / took, together[together.size() / 2],
          together[together.size() * 99 / 100]};
}

void print(const char* name, const Figures& figures) {
  std::cout << '"' << name << "\": {\"per_second\": " << figures.per_second << ", \"p50\": " << figures.p50
            << ", \"p99\": " << figures.p99 << '}';
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) {
    fail("usage: ask_bench SOCKET EXPERIMENT CLIENTS SECONDS");
  }
  const std::string socket = words[1];
  const std::string path = "/api/v1/experiments/" + std::string(words[2]) + "/";
  const double seconds = std::atof(words[4]);
  std::vector<Work> all(static_cast<std::size_t>(std::max(1, std::atoi(words[3]))));
  const Figures asks = measure(all, seconds, socket, [&path](Client& client, Work& work) {
    const std::string_view answer = client.post(path + "ask", R"({"count":1,"lease_seconds":3600})");
    work.leases.push_back(
        {Client::number_behind(answer, "\"trial\":"), Client::number_behind(answer, "\"lease\":\""), 0});
  });
  const Figures reports = measure(all, seconds, socket, [&path](Client& client, Work& work) {
    Lease& lease = work.leases[work.seconds.size() % work.leases.size()];
    client.post(path + "trials/" + std::to_string(lease.trial) + "/report",
                R"({"lease":")" + std::to_string(lease.lease) + R"(","step":)" +
                    std::to_string(++lease.step) + R"(,"metrics":{"loss":0.5}})");
  });
  std::cout << "{\"clients\": " << all.size() << ", ";
  print("asks", asks);
  std::cout << ", ";
  print("reports", reports);
  std::cout << "}\n";
  return 0;
}

#include "zmq/zap.hpp"

#include <pthread.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "net/uninterrupted.hpp"
#include "zmq/curve_bytes.hpp"

namespace hpsearch::net {
namespace {

// The frames of a request in their order: version, its number, domain, address, routing id, mechanism,
// credentials.
constexpr std::size_t request_parts = 7;
constexpr std::size_t number_at = 1;
constexpr std::size_t mechanism_at = 5;
constexpr std::size_t key_at = 6;
constexpr std::size_t key_bytes = 32;
constexpr const char* version = "1.0";

std::string spelled(const zmq::message_t& key) {
  return key_of_bytes(
      std::span<const std::uint8_t, key_bytes>(static_cast<const std::uint8_t*>(key.data()), key_bytes));
}

}  // namespace

std::optional<std::string> admitted_key(const zmq::message_t& message) {
  // Not message_t::gets(), which throws where there is none.
  const char* key = ::zmq_msg_gets(message.handle(), "User-Id");
  return key == nullptr || *key == '\0' ? std::nullopt : std::optional<std::string>(key);
}

Zap::Zap(zmq::context_t& context, std::function<bool(const std::string&)> admits)
    : admits_(std::move(admits)),
      questions_(context, zmq::socket_type::rep),
      end_here_(context, zmq::socket_type::pair),
      end_there_(context, zmq::socket_type::pair) {
  for (zmq::socket_t* socket : {&questions_, &end_here_, &end_there_}) {
    socket->set(zmq::sockopt::linger, 0);
  }
  questions_.bind("inproc://zeromq.zap.01");
  end_there_.bind("inproc://zap-end");
  end_here_.connect("inproc://zap-end");
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // Signals are the loop's.
  thread_ = std::thread([this] { answer(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Zap::~Zap() {
  end_here_.send(zmq::message_t(), zmq::send_flags::none);
  thread_.join();
}

void Zap::answer() {
  std::array<zmq::pollitem_t, 2> wanted{
      {{questions_.handle(), 0, ZMQ_POLLIN, 0}, {end_there_.handle(), 0, ZMQ_POLLIN, 0}}};
  for (;;) {
    uninterrupted([&] { return zmq::poll(wanted.data(), wanted.size(), std::chrono::milliseconds(-1)); });
    if ((wanted[1].revents & ZMQ_POLLIN) != 0) {
      return;
    }
    std::vector<zmq::message_t> request;
    do {
      request.emplace_back();
      uninterrupted([&] { return questions_.recv(request.back(), zmq::recv_flags::none); });
    } while (request.back().more());
    const bool asked_well = request.size() == request_parts &&
                            request[mechanism_at].to_string_view() == "CURVE" &&
                            request[key_at].size() == key_bytes;
    const std::string key = asked_well ? spelled(request[key_at]) : std::string();
    const bool admitted = asked_well && admits_(key);
    const std::string number = request.size() > number_at ? request[number_at].to_string() : std::string();
    const std::string_view user = admitted ? std::string_view(key) : std::string_view();
    const std::array<std::string_view, 6> reply{
        version, number, admitted ? "200" : "400", admitted ? "OK" : "not allowed", user, ""};
    for (std::size_t part = 0; part < reply.size(); ++part) {
      const auto flags = part + 1 < reply.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
      uninterrupted([&] { return questions_.send(zmq::buffer(reply[part]), flags); });
    }
  }
}

}  // namespace hpsearch::net

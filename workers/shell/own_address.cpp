#include "hpsearch/workers/shell/own_address.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <string_view>

#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

namespace {

constexpr std::string_view scheme = "tcp://";
constexpr std::string_view local_scheme = "ipc://";
constexpr const char* this_machine = "127.0.0.1";

struct FreeAddresses {
  void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};

std::string text_of(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes =
      address.ss_family == AF_INET6
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr)
          : static_cast<const void*>(&reinterpret_cast<const sockaddr_in&>(address).sin_addr);
  return ::inet_ntop(address.ss_family, bytes, text.data(), text.size()) != nullptr ? text.data() : "";
}

}  // namespace

std::string own_address(const std::string& endpoint) {
  const std::size_t colon = endpoint.rfind(':');
  if (!endpoint.starts_with(scheme) || colon == std::string::npos || colon <= scheme.size()) {
    return endpoint.starts_with(local_scheme) ? this_machine : "";
  }
  std::string host = endpoint.substr(scheme.size(), colon - scheme.size());
  if (host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), endpoint.substr(colon + 1).c_str(), &wanted, &found) != 0) {
    return "";
  }
  const std::unique_ptr<addrinfo, FreeAddresses> addresses(found);
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    // Sends nothing: connecting a datagram socket only looks up the route.
    const Descriptor probe(::socket(at->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    if (probe && ::connect(probe.get(), at->ai_addr, at->ai_addrlen) == 0 &&
        ::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&own), &size) == 0) {
      return text_of(own);
    }
  }
  return "";
}

}  // namespace hpsearch::workers

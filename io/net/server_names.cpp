#include "hpsearch/io/net/server_names.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

namespace hpsearch::net {
namespace {

struct FreeInterfaces {
  void operator()(ifaddrs* list) const noexcept { ::freeifaddrs(list); }
};

/// "" for what is no IP address, and for those that mean nothing without their interface.
std::string text_of(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address != nullptr && address->sa_family == AF_INET) {
    const auto* ip = reinterpret_cast<const sockaddr_in*>(address);
    return ::inet_ntop(AF_INET, &ip->sin_addr, text.data(), text.size()) != nullptr ? text.data() : "";
  }
  if (address != nullptr && address->sa_family == AF_INET6) {
    const auto* ip = reinterpret_cast<const sockaddr_in6*>(address);
    const bool is_global = !IN6_IS_ADDR_LINKLOCAL(&ip->sin6_addr);
    return is_global && ::inet_ntop(AF_INET6, &ip->sin6_addr, text.data(), text.size()) != nullptr
               ? text.data()
               : "";
  }
  return "";
}

bool has_address(const std::string& host, int family) {
  addrinfo wanted{};
  wanted.ai_family = family;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const bool has_one = ::getaddrinfo(host.c_str(), nullptr, &wanted, &found) == 0;
  if (has_one) {
    ::freeaddrinfo(found);
  }
  return has_one;
}

}  // namespace

std::string host_of(const std::string& address) {
  std::string host = address.substr(0, address.rfind(':'));
  if (host.size() > 1 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  return host;
}

bool is_any_address(const std::string& host) {
  return host.empty() || host == "*" || host == "0.0.0.0" || host == "::";
}

std::vector<std::string> names_of_server(const std::string& address) {
  std::vector<std::string> names;
  const auto add = [&names](std::string name) {
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(std::move(name));
    }
  };
  std::array<char, 256> own{};
  if (::gethostname(own.data(), own.size() - 1) == 0) {
    add(own.data());
  }
  const std::string host = host_of(address);
  if (!is_any_address(host)) {
    add(host);
  } else if (ifaddrs* found = nullptr; ::getifaddrs(&found) == 0) {
    const std::unique_ptr<ifaddrs, FreeInterfaces> interfaces(found);
    for (const ifaddrs* at = found; at != nullptr; at = at->ifa_next) {
      add(text_of(at->ifa_addr));
    }
  }
  for (const char* here : {"localhost", "127.0.0.1", "::1"}) {
    add(here);
  }
  return names;
}

std::string endpoint_for_others(const std::string& listens_at, const std::string& address) {
  constexpr std::string_view scheme = "tcp://";
  const std::string own = listens_at.starts_with(scheme) ? listens_at.substr(scheme.size()) : listens_at;
  std::string host = address.starts_with(scheme) ? address.substr(scheme.size()) : address;
  std::string port = own.substr(own.rfind(':') + 1);
  const bool is_ipv6 = std::count(host.begin(), host.end(), ':') > 1 && host.front() != '[';
  if (const std::size_t colon = host.rfind(':');
      !is_ipv6 && colon != std::string::npos && host.find(']', colon) == std::string::npos) {
    port = host.substr(colon + 1);
    host.erase(colon);
  }
  if (host.empty()) {
    host = host_of(own);
    if (is_any_address(host)) {
      const std::vector<std::string> names = names_of_server(own);
      const auto outside = std::find_if(names.begin() + 1, names.end(), [](const std::string& name) {
        return !name.starts_with("127.") && name != "::1" && name != "localhost";
      });
      host = outside == names.end() ? names.front() : *outside;
    }
  }
  const bool needs_brackets = host.find(':') != std::string::npos && host.front() != '[';
  return std::string(scheme) + (needs_brackets ? "[" + host + "]" : host) + ":" + port;
}

std::string own_address(const std::string& name) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host_of(name + ":0").c_str(), nullptr, &wanted, &found) != 0) {
    return "";
  }
  const std::vector<std::string> own = names_of_server("0.0.0.0:0");
  std::string address;
  for (const addrinfo* at = found; at != nullptr && address.empty(); at = at->ai_next) {
    const std::string text = text_of(at->ai_addr);
    if (std::find(own.begin(), own.end(), text) != own.end()) {
      address = at->ai_family == AF_INET6 ? "[" + text + "]" : text;
    }
  }
  ::freeaddrinfo(found);
  return address;
}

bool needs_ipv6(const std::string& endpoint) {
  constexpr std::string_view scheme = "tcp://";
  if (!endpoint.starts_with(scheme)) {
    return false;
  }
  const std::string host = host_of(endpoint.substr(scheme.size()));
  return !has_address(host, AF_INET) && has_address(host, AF_INET6);
}

}  // namespace hpsearch::net

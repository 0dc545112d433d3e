#include "hpsearch/io/net/networks.hpp"

#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

#include "net/asio.hpp"

namespace hpsearch::net {
namespace {

/// Whether `network` is one of that kind, and `host` in it.
template <class Network>
bool is_part(const Network& host, const Network& network) {
  return host.network() == network.network() || host.is_subnet_of(network);
}

}  // namespace

bool is_network(const std::string& text) {
  AsioError error;
  static_cast<void>(asio::ip::make_network_v4(text, error));
  if (error) {
    static_cast<void>(asio::ip::make_network_v6(text, error));
  }
  return !error;
}

bool is_in_network(const std::string& address, const std::string& network) {
  AsioError error;
  auto ip = asio::ip::make_address(address, error);
  if (error) {
    return false;
  }
  if (ip.is_v6() && ip.to_v6().is_v4_mapped()) {
    ip = asio::ip::make_address_v4(asio::ip::v4_mapped, ip.to_v6());
  }
  if (ip.is_v4()) {
    const auto wanted = asio::ip::make_network_v4(network, error);
    return !error && is_part(asio::ip::network_v4(ip.to_v4(), 32), wanted.canonical());
  }
  const auto wanted = asio::ip::make_network_v6(network, error);
  return !error && is_part(asio::ip::network_v6(ip.to_v6(), 128), wanted.canonical());
}

}  // namespace hpsearch::net

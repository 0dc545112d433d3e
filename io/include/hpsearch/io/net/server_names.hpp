#pragma once

#include <string>
#include <vector>

namespace hpsearch::net {

/// HOST of "HOST:PORT", without the brackets of an IPv6 address.
[[nodiscard]] std::string host_of(const std::string& address);

/// Whether a server at this host listens at all addresses of its machine.
[[nodiscard]] bool is_any_address(const std::string& host);

/// The names and IP addresses by which clients may reach a server that listens at "HOST:PORT": HOST, or all
/// addresses of this machine; and the machine's name, localhost and the loopback addresses.
[[nodiscard]] std::vector<std::string> names_of_server(const std::string& address);

/// "tcp://HOST:PORT" by which other machines reach the port at "tcp://HOST:PORT". `address`: "HOST" or
/// "HOST:PORT"; "" = the same host, or the first address of this machine if the port listens at all of them.
[[nodiscard]] std::string endpoint_for_others(const std::string& listens_at, const std::string& address);

/// The first IP address of this name that is one of this machine, in brackets if it is IPv6; "" = none. Looks
/// the name up, which may take seconds.
[[nodiscard]] std::string own_address(const std::string& name);

/// Whether the host of "tcp://HOST:PORT" has IPv6 addresses only. Looks its name up, which may take seconds.
[[nodiscard]] bool needs_ipv6(const std::string& endpoint);

}  // namespace hpsearch::net

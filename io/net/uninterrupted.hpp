#pragma once

#include <cerrno>
#include <zmq.hpp>

namespace hpsearch::net {

/// The same call again whenever a signal got in its way.
template <class Call>
auto uninterrupted(Call call) {
  for (;;) {
    try {
      return call();
    } catch (const zmq::error_t& error) {
      if (error.num() != EINTR) {
        throw;
      }
    }
  }
}

}  // namespace hpsearch::net

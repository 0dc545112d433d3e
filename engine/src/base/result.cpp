#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::engine {

const char* name_of(Errc code) noexcept {
  switch (code) {
    case Errc::bad_request:
      return "bad_request";
    case Errc::not_found:
      return "not_found";
    case Errc::wrong_state:
      return "wrong_state";
    case Errc::version_mismatch:
      return "version_mismatch";
    case Errc::corrupt:
      return "corrupt";
    case Errc::unavailable:
      return "unavailable";
    case Errc::conflict:
      return "conflict";
    case Errc::quota:
      return "quota";
  }
  return "unknown";
}

}  // namespace hpsearch::engine

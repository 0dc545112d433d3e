#include "cli/verbs/failure.hpp"

#include "cli/render/text.hpp"

namespace hpsearch::cli {

Failure failure_of(const engine::Error& error) {
  Exit exit = Exit::failed;
  switch (error.code) {
    case engine::Errc::bad_request:
      exit = Exit::usage;
      break;
    case engine::Errc::not_found:
      exit = Exit::not_found;
      break;
    case engine::Errc::wrong_state:
    case engine::Errc::conflict:
    case engine::Errc::quota:
      exit = Exit::conflict;
      break;
    case engine::Errc::corrupt:
    case engine::Errc::unavailable:
      exit = Exit::storage;
      break;
    case engine::Errc::version_mismatch:
      break;
  }
  return Failure{exit, error.code, printable(error.message)};  // The text may come from a damaged file.
}

}  // namespace hpsearch::cli

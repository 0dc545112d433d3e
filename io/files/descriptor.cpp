#include "hpsearch/io/files/descriptor.hpp"

#include <unistd.h>

namespace hpsearch::files {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

void Descriptor::reset() noexcept {
  if (number_ >= 0) {
    ::close(std::exchange(number_, -1));
  }
}

}  // namespace hpsearch::files

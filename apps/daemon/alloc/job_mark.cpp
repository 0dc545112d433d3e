#include "daemon/alloc/job_mark.hpp"

#include <array>
#include <cstdio>

namespace hpsearch::daemon {

std::string mark_beginning(std::uint64_t cluster, char between) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(cluster));
  return "hpsearch" + std::string(1, between) + text.data() + between;
}

std::string JobMark::text(char between) const {
  return mark_beginning(cluster, between) + name.queue + between + std::to_string(name.number) + between +
         key;
}

std::optional<std::string> key_in_mark(std::string_view mark, std::uint64_t cluster, char between) {
  const std::string beginning = mark_beginning(cluster, between);
  const std::size_t last = mark.rfind(between);
  if (!mark.starts_with(beginning) || last < beginning.size()) {
    return std::nullopt;
  }
  return std::string(mark.substr(last + 1));
}

}  // namespace hpsearch::daemon

#include "hpsearch/workers/core/memory_failure.hpp"

#include <algorithm>
#include <array>

namespace hpsearch::workers {

namespace {

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view blank = " \t\r";
  line.remove_prefix(std::min(line.find_first_not_of(blank), line.size()));
  return line.substr(0, line.find_last_not_of(blank) + 1);
}

/// "[rank0]: ", as PyTorch puts it before each line of a traceback of several processes.
std::string_view without_rank(std::string_view line) {
  const std::size_t end = line.find("]: ");
  return line.starts_with("[rank") && end != std::string_view::npos ? trimmed(line.substr(end + 3)) : line;
}

/// "MemoryError", "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 8.00 GiB",
/// "torch.OutOfMemoryError: …".
bool is_memory_exception(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(':'));
  const std::size_t dot = name.rfind('.');
  const std::string_view kind = name.substr(dot == std::string_view::npos ? 0 : dot + 1);
  return kind == "MemoryError" || kind == "_ArrayMemoryError" || kind == "OutOfMemoryError";
}

bool has_words_of_memory(std::string_view line) {
  constexpr std::array<std::string_view, 10> words{"CUDA out of memory",
                                                   "CUDA error: out of memory",
                                                   "cudaErrorMemoryAllocation",
                                                   "CUDA_ERROR_OUT_OF_MEMORY",
                                                   "CUBLAS_STATUS_ALLOC_FAILED",
                                                   "HIP out of memory",
                                                   "OOM when allocating",
                                                   "RESOURCE_EXHAUSTED: Out of memory",
                                                   "DefaultCPUAllocator: can't allocate memory",
                                                   "std::bad_alloc"};
  return std::ranges::any_of(
      words, [&](std::string_view word) { return line.find(word) != std::string_view::npos; });
}

}  // namespace

std::optional<std::string_view> memory_failure_of(std::string_view log_tail) {
  std::optional<std::string_view> found;
  while (!log_tail.empty()) {
    const std::string_view whole = log_tail.substr(0, log_tail.find('\n'));
    log_tail.remove_prefix(std::min(whole.size() + 1, log_tail.size()));
    const std::string_view line = without_rank(trimmed(whole));
    if (is_memory_exception(line) || has_words_of_memory(line)) {
      found = line;
    }
  }
  return found;
}

}  // namespace hpsearch::workers

#pragma once

#include "core/adapters/adapter.hpp"

namespace hpsearch::workers {

/// Determined: its variables (DET_*), and its harness for programs that are written for it.
extern const Adapter determined_adapter;

}  // namespace hpsearch::workers

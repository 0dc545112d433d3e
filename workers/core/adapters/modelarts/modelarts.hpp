#pragma once

#include "core/adapters/adapter.hpp"

namespace hpsearch::workers {

/// ModelArts: the variables of its containers (MA_*, VC_*), and channels that are passed as variables.
extern const Adapter modelarts_adapter;

}  // namespace hpsearch::workers

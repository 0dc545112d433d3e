#pragma once

#include "core/adapters/adapter.hpp"

namespace hpsearch::workers {

/// PAI: the variables (PAI_*) and files of its training jobs and components.
extern const Adapter pai_adapter;

}  // namespace hpsearch::workers

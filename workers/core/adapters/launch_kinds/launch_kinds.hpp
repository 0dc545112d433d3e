#pragma once

#include "core/adapters/adapter.hpp"

namespace hpsearch::workers {

/// The launch kinds: how the processes of an attempt find each other, by the variables of KubeDL's jobs
/// (PyTorchJob, TFJob, XGBoostJob, ElasticBatchJob) or the host file of MPI, and one process per slot.
extern const Adapter launch_kinds_adapter;

}  // namespace hpsearch::workers

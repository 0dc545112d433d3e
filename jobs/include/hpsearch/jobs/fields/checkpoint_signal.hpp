#pragma once

namespace hpsearch::jobs {

/// The environment variable of a program that is to write a checkpoint when a signal comes
/// (`environment.checkpoint_signal` of its experiment); it holds the signal's name, "SIGUSR1" or "SIGUSR2".
inline constexpr const char* checkpoint_signal_variable = "HPSEARCH_CHECKPOINT_SIGNAL";

}  // namespace hpsearch::jobs

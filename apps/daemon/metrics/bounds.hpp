#pragma once

#include <array>

#include "hpsearch/proto/metrics/histogram.hpp"

namespace hpsearch::daemon {

using proto::Histogram;

/// From the duration of a cache miss to that of a slow request.
inline constexpr std::array<double, 9> decision_bounds{1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2};
/// Durations of a disk or a network.
inline constexpr std::array<double, 10> request_bounds{0.0005, 0.001, 0.0025, 0.005, 0.01,
                                                       0.025,  0.05,  0.1,    0.25,  1};
/// Durations that trials wait: for a slot, for a program to start.
inline constexpr std::array<double, 10> wait_bounds{0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 1800, 7200};
inline constexpr std::array<double, 8> group_bounds{1, 3, 10, 30, 100, 300, 1000, 3000};
/// From the shortest interval of beats to the time after which leases end.
inline constexpr std::array<double, 9> silence_bounds{0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300};

}  // namespace hpsearch::daemon

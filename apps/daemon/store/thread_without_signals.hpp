#pragma once

#include <pthread.h>

#include <csignal>
#include <thread>
#include <utility>

namespace hpsearch::daemon {

/// Starts a thread that leaves all signals to the loop's.
template <class Function>
std::thread thread_without_signals(Function function) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(function));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace hpsearch::daemon

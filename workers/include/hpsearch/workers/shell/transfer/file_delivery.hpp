#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>

#include "hpsearch/io/net/background.hpp"
#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/workers/shell/transfer/daemon_access.hpp"
#include "hpsearch/workers/shell/transfer/kept_files.hpp"

namespace hpsearch::workers {

/// How sending a trial's files to the daemon ended.
struct FilesSent {
  enum class End : std::uint8_t {
    taken,    ///< The daemon has what it wants of them.
    refused,  ///< It does not take them, and will not the next time either.
    later     ///< Neither: it is away, has no room to store anything, or they changed meanwhile.
  };
  End end = End::later;
  std::string why;  ///< Not all of them are there; "" = they are.
};

/// Tells the daemon what is kept of a trial, and sends in pieces what it lacks.
///
/// Threads: any; it waits. Memory: a piece and the names, whatever the size of files. Cost: every file is
/// read for its digest, and what the daemon lacks once more.
[[nodiscard]] FilesSent send_files(const UnsentFiles& files, const DaemonAccess& daemon,
                                   const std::stop_token& stop);

/// Sends the files of one trial after the other, in every session until the daemon has taken or refused them;
/// what is not sent when the worker ends is sent by the next one on its state directory.
///
/// Threads: the loop's, but for send_all().
class FileDelivery {
 public:
  /// `says`: called on the loop when files are being sent, and when they no longer are: all are there, or
  /// none can be sent for a while.
  FileDelivery(net::Loop& loop, KeptFiles& kept, std::stop_token stop, std::function<void(bool)> says)
      : loop_(loop), kept_(kept), stop_(std::move(stop)), says_(std::move(says)), background_(loop) {}

  /// Who takes them from now on, for that store.
  void in_session(DaemonAccess daemon, std::uint64_t store);
  /// There is something new to send.
  void go_on();

  /// Sends what there is, here and now, as far as the time goes. Any thread.
  void send_all(const DaemonAccess& daemon, std::uint64_t store, std::chrono::milliseconds within);

 private:
  void begin();
  /// Whether something is left for later.
  bool send_each(const DaemonAccess& daemon, std::uint64_t store, const std::stop_token& stop);

  net::Loop& loop_;
  KeptFiles& kept_;
  std::stop_token stop_;
  std::function<void(bool)> says_;
  std::timed_mutex one_at_a_time_;
  DaemonAccess daemon_;
  std::uint64_t store_ = 0;
  bool running_ = false;
  bool again_ = false;
  std::chrono::milliseconds wait_{};
  net::Watch retry_;
  net::Background background_;
};

}  // namespace hpsearch::workers

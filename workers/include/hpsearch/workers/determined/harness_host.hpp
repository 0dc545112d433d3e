#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/workers/core/adapters/determined/determined_session.hpp"
#include "hpsearch/workers/core/log_text.hpp"
#include "hpsearch/workers/determined/harness_files.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

/// How the harness of an attempt ended.
struct HarnessEnd {
  bool by_signal = false;
  int code = 0;  ///< Exit status, or the number of the signal.
};

/// Runs the Determined harness of one attempt in a private root, and serves it the REST interface of a
/// Determined master on its own loopback port. For the shim it is the program of the attempt.
///
/// Threads: the loop's. The loop outlives it.
class HarnessHost {
 public:
  using Environment = std::map<std::string, std::string>;
  using OnEnd = std::function<void(HarnessEnd end)>;

  /// `environment`: the environment of the attempt's program.
  HarnessHost(net::Loop& loop, Environment environment, OnEnd on_end);

  /// bad_request: a variable is missing or unreadable, with its name. unavailable: no port, no socket, no
  /// process.
  [[nodiscard]] engine::Status start();

 private:
  [[nodiscard]] engine::Status read_trial();
  [[nodiscard]] engine::Status read_nodes();
  [[nodiscard]] engine::Status connect();
  [[nodiscard]] engine::Status listen();
  [[nodiscard]] engine::Status launch();
  [[noreturn]] void become_harness() const;
  [[nodiscard]] Environment harness_environment() const;
  [[nodiscard]] std::string variable(const std::string& name) const;

  void serve(net::HttpRequest request, net::HttpServer::Reply reply);
  void read_answers();
  void reap();
  void look_for_parts();
  void carry_out(DeterminedSession::Effects effects);
  void carry_out(const DeterminedReply& reply);
  void carry_out(const SendToWorker& say);
  void carry_out(const CheckpointToTake& take);
  void carry_out(const ModelToPack& pack);
  void carry_out(const UnknownRequest& unknown);
  void wake_in_time();

  net::Loop& loop_;
  Environment environment_;
  OnEnd on_end_;
  DeterminedTrial trial_;
  std::vector<std::string> ports_;  ///< The ports at which its nodes connect, if there are several.
  std::optional<HarnessFiles> files_;
  std::optional<DeterminedSession> session_;
  std::unique_ptr<net::HttpServer> server_;
  std::uint64_t last_request_ = 0;
  std::map<DeterminedRequestId, net::HttpServer::Reply> replies_;
  Descriptor worker_;
  LineSplitter answers_;
  net::Watch answering_;
  net::Watch children_;
  net::Watch wake_;
  pid_t harness_ = 0;
  net::Watch parts_;  ///< Set on nodes other than the chief's.
  std::string part_seen_;
  bool wrote_a_part_ = false;
};

}  // namespace hpsearch::workers

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/workers/core/adapters/determined/determined_steps.hpp"

namespace hpsearch::workers {

/// The attempt in the harness's terms.
struct DeterminedTrial {
  std::uint64_t experiment = 0;
  std::uint64_t trial = 0;
  std::uint64_t run = 1;   ///< The attempt.
  std::string allocation;  ///< Names the attempt in paths.
  std::string token;       ///< Requests without it are rejected.
  engine::Value config;    ///< determined_config()
  engine::Value hparams;
  engine::Units length{1};  ///< The first length to train to, in the experiment's unit.
  std::string unit = "batches";
  std::uint64_t slots =
      0;  ///< Slots per node as the harness counts them: devices, or processes if there are no devices.
  std::vector<std::string> addresses{"127.0.0.1"};  ///< The addresses of its nodes, by rank.
  std::uint64_t rank = 0;                           ///< This node's.
  engine::Value latest_checkpoint;                  ///< Its CheckpointToTake::record; null on a fresh start.
};

/// A request of a harness, on its connection until the reply.
using DeterminedRequestId = engine::Id<struct DeterminedRequestKind>;

struct DeterminedRequest {
  DeterminedRequestId id;
  std::string method;
  std::string path;
  std::string timeout_seconds;  ///< From the query; "" = absent.
  std::string authorization;    ///< "Bearer TOKEN"
  std::string body;
};

struct DeterminedReply {
  DeterminedRequestId request;
  unsigned status = 200;
  std::string body;
};
/// A line for the attempt's report socket; the next one follows after answered() was called.
struct SendToWorker {
  std::string line;
};
/// The content of the storage's directory `uuid` becomes the attempt's checkpoint, with `record` beside it;
/// then taken() is called.
struct CheckpointToTake {
  std::string uuid;
  engine::Value record;
};
/// Reply with the context directory, a gzipped tar in base64: {"b64Tgz": …}.
struct ModelToPack {
  DeterminedRequestId request;
};
/// A request that is not served; it should be logged.
struct UnknownRequest {
  std::string what;
};
using DeterminedEffect =
    std::variant<DeterminedReply, SendToWorker, CheckpointToTake, ModelToPack, UnknownRequest>;

/// Implements the REST interface of Determined 0.24 for the real harness of one attempt, and the line
/// protocol of the attempt's report socket for the worker (docs/adr/0008): reports of the harness
/// become reports of a program, and decisions of the searcher come back as answers.
///
/// The searcher's operations are lengths: completing one is the report at that length, whose answer is
/// the searcher's decision; "continue" makes the next operation, "pause" and "stop" mean that there is none.
/// Both also preempt: once a second, the session asks the worker whether the harness should exit.
///
/// A trial on several nodes has one session on each. Reports, questions and checkpoints pass through
/// the harness's chief, which is on the node with rank 0; the other sessions only provide the addresses of
/// the nodes.
///
/// Units:   operations are in the experiment's unit, the harness's steps in batches (DeterminedSteps).
/// Owns:    values only; no socket, file or clock.
/// Threads: none of its own; callers take turns.
/// Cost:    O(size of the body) per request.
class DeterminedSession {
 public:
  using Effects = std::vector<DeterminedEffect>;

  explicit DeterminedSession(DeterminedTrial trial);

  void asked(const DeterminedRequest& request, engine::Instant now, Effects& out);
  /// The worker's answer to the line that was sent last.
  void answered(std::string_view line, engine::Instant now, Effects& out);
  void taken(const engine::Status& taken, Effects& out);
  void check_timers(engine::Instant now, Effects& out);
  [[nodiscard]] std::optional<engine::Instant> next_wake() const noexcept;

  /// The harness has exited: returns reports that haven't been sent.
  void ended(Effects& out);
  /// The exit status of the attempt's program if the harness exited with `status`: after a
  /// preemption it asks to be run again.
  [[nodiscard]] int exit_status(int status) const noexcept;

 private:
  enum class About : std::uint8_t { poll, remark, metrics, operation, checkpoint, invalid };
  struct Question {
    About about = About::poll;
    std::optional<DeterminedRequestId> request;
    std::string line;
  };
  struct LongPoll {
    DeterminedRequestId request;
    engine::Instant until;
  };
  struct Measured {
    std::uint64_t steps = 0;
    engine::Value metrics;
    bool decisive = false;  ///< It has the searcher's metric.
  };

  void about_trial(std::string_view what, const DeterminedRequest& request, Effects& out);
  void about_allocation(std::string_view what, const DeterminedRequest& request, engine::Instant now,
                        Effects& out);
  void about_experiment(std::string_view what, const DeterminedRequest& request, Effects& out);
  void about_checkpoints(std::string_view what, const DeterminedRequest& request, Effects& out);

  void report(Measured measured, std::optional<DeterminedRequestId> request, Effects& out);
  void learn(double position, Effects& out);
  void take_metrics(const DeterminedRequest& request, Effects& out);
  void complete_operation(const DeterminedRequest& request, Effects& out);
  void take_progress(const DeterminedRequest& request, Effects& out);
  void exit_early(const DeterminedRequest& request, Effects& out);
  void take_checkpoint(const DeterminedRequest& request, Effects& out);
  void wait_for_preemption(const DeterminedRequest& request, engine::Instant now, Effects& out);
  [[nodiscard]] std::string trial_text() const;

  void ask(Question question, Effects& out);
  void ask_next(Effects& out);
  void on_directive(const engine::Value& answer, Effects& out);
  void end_polls(Effects& out);
  [[nodiscard]] std::string report_line(engine::Units step, engine::Value metrics) const;
  [[nodiscard]] bool leaves() const noexcept { return ended_by_answer_ || preempted_; }
  [[nodiscard]] bool speaks() const noexcept { return trial_.rank == 0; }

  DeterminedTrial trial_;
  std::string metric_;
  bool smaller_is_better_ = true;
  DeterminedSteps steps_;
  engine::Units length_{};
  bool ended_by_answer_ = false;  ///< The worker answered pause or stop.
  bool preempted_ = false;        ///< The batch system under the harness preempts it.
  bool leaving_ = false;          ///< The harness reported that it exits because of that.
  bool invalid_ = false;

  std::deque<Question> questions_;  ///< The first one is sent if `open_`.
  bool open_ = false;
  std::optional<engine::Instant> poll_at_;
  std::vector<LongPoll> polls_;

  std::optional<std::uint64_t> last_steps_;  ///< The step of the last metrics.
  std::deque<Measured> unplaced_;            ///< Reports before their step in the experiment's unit is known.
  std::optional<Measured> at_length_;        ///< Sent with the completion of the operation.
  std::optional<Measured> last_;             ///< The last validation.
  std::optional<double> best_;
  std::optional<Question> taking_;                    ///< Waits for its files.
  std::map<std::string, engine::Value> checkpoints_;  ///< By uuid.
};

}  // namespace hpsearch::workers

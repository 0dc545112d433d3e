#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/blobs/kept_store.hpp"
#include "daemon/blobs/log_places.hpp"
#include "daemon/blobs/log_search.hpp"
#include "daemon/http/http_request_context.hpp"
#include "daemon/streams/log_follow.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/experiment/trial_record.hpp"
#include "hpsearch/jobs/fields/program.hpp"
#include "hpsearch/jobs/patterns/line_pattern.hpp"
#include "hpsearch/proto/api/schema.hpp"
#include "hpsearch/proto/api/trials.hpp"
#include "hpsearch/proto/api/utilization.hpp"
#include "hpsearch/proto/sentences/stored_sentence.hpp"
#include "hpsearch/proto/wire/utilization.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::uint64_t most_log_bytes = 128 * 1024;
constexpr std::uint64_t most_utilization_bytes = std::uint64_t{4} * 1024 * 1024;
constexpr engine::Duration search_time = engine::Duration::seconds(2);

/// The requested part of a log, where it may be, and the error if no place has it.
struct Question {
  WorkerSessions::LogQuestion log;
  std::string lost_because;
  bool stays_on_worker = false;
  [[nodiscard]] LogName name() const { return {log.key, log.worker, log.process, log.stream}; }
};

/// Selects a process for a request about logs; no rank and no worker: the first.
struct WantedProcess {
  std::uint64_t rank = 0;
  std::uint64_t worker = 0;  ///< The first on that worker, whatever its rank; 0 = by rank.
};

/// Sets the worker and its process in the question.
engine::Status ask_for(const AttemptPlaces& places, jobs::RankLevel level, const WantedProcess& wanted,
                       WorkerSessions::LogQuestion& question) {
  question.key = places.key;
  const std::string attempt = "attempt " + std::to_string(places.key.attempt.number());
  if (wanted.worker != 0) {
    question.worker = engine::WorkerId(wanted.worker);
    return places.on(question.worker) != nullptr
               ? engine::Status(engine::Done{})
               : Error{Errc::not_found, attempt + " had nothing on worker " + std::to_string(wanted.worker)};
  }
  const std::uint64_t on_each =
      level == jobs::RankLevel::process ? std::max<std::uint64_t>(places.nodes.front().slots.size(), 1) : 1;
  const std::uint64_t ranks = on_each * places.nodes.size();
  if (wanted.rank >= ranks) {
    return Error{Errc::not_found,
                 attempt + " has " +
                     (ranks == 1 ? "rank 0 only" : "ranks 0 to " + std::to_string(ranks - 1)) + ", no rank " +
                     std::to_string(wanted.rank)};
  }
  question.worker = places.nodes[wanted.rank / on_each].worker;
  question.process = wanted.rank % on_each;
  return engine::Done{};
}

/// A piece of a log, and whether the daemon kept it; otherwise it is from the worker.
struct FoundLog {
  proto::TextPiece piece;
  bool kept = false;
};
using TakeLog = std::function<void(const Result<FoundLog>&)>;

api::LogPiece log_piece(const Question& question, const FoundLog& found) {
  return {.attempt = question.log.key.attempt,
          .kept = found.kept,
          .offset = found.piece.offset,
          .size = found.piece.size,
          .text = found.piece.text};
}

/// Why the log is not available: `live` is the error of its worker, or of its absence.
Error not_to_be_had(RequestContext& context, const Question& question, Error live) {
  const engine::AttemptKey& key = question.log.key;
  if (context.about.kept->log_was_removed(key.experiment, key.trial)) {
    return Error{Errc::not_found, live.message +
                                      "; what the daemon had kept of it was removed to make room (hpsearchd "
                                      "--kept-quota and --keep-logs)"};
  }
  const std::string problem = context.about.kept->log_problem_of(key, question.log.worker);
  if (!problem.empty()) {
    live.message += "; the daemon could not keep it: " + problem;
  } else if (question.stays_on_worker) {
    live.message += "; the daemon keeps no logs of this experiment (log_storage: worker)";
  } else if (!question.lost_because.empty() && !context.sessions.connected(question.log.worker)) {
    return Error{Errc::not_found,
                 live.message + "; the log counts as lost with it: " + question.lost_because};
  }
  return live;
}

void read_kept(RequestContext& context, const Question& question, const Error& live, const TakeLog& take) {
  if (context.about.kept == nullptr) {
    take(live);
    return;
  }
  const WorkerSessions::LogQuestion& log = question.log;
  context.about.kept->read_log(
      question.name(), log.offset, log.limit, log.from_end,
      [&context, question, live, take](const Result<proto::TextPiece>& piece) {
        if (piece) {
          take(FoundLog{*piece, true});
        } else if (piece.error().code == Errc::not_found) {
          take(not_to_be_had(context, question, live));
        } else {
          take(Error{piece.error().code, live.message + ", and what the daemon kept of it cannot be read: " +
                                             piece.error().message});
        }
      });
}

/// Reads from the worker, which has more of it, while it has it; otherwise from the kept log.
void read_log(RequestContext& context, const Question& question, const TakeLog& take) {
  context.sessions.read_log(question.log, [&context, question, take](const Result<proto::LogPart>& part) {
    if (!part) {
      read_kept(context, question, part.error(), take);
    } else if (!part->problem.empty()) {
      read_kept(context, question, Error{Errc::not_found, part->problem}, take);
    } else {
      take(FoundLog{{part->offset, part->size, part->text}, false});
    }
  });
}

/// The log of one attempt as it grows.
void follow_log(RequestContext& context, const Call& call, Question question) {
  const std::string_view last = call.request.header("Last-Event-ID");
  if (const auto offset = read_number(last)) {
    question.log.offset = *offset;
    question.log.from_end = false;
  }
  call.reply(context.streams->open.open(call.request, [&context,
                                                       question](std::shared_ptr<net::HttpBody> body) {
    const auto from_end = std::make_shared<bool>(question.log.from_end);
    LogFollow::begin(context.runtime.loop(), std::move(body),
                     {.read =
                          [&context, question, from_end](std::uint64_t offset, const LogFollow::Take& take) {
                            Question next = question;
                            next.log.offset = offset;
                            next.log.from_end = std::exchange(*from_end, false);
                            read_log(context, next, [take](const Result<FoundLog>& found) {
                              take(found ? Result<LogFollow::Piece>({found->piece.offset, found->piece.text})
                                         : found.error());
                            });
                          },
                      .is_over =
                          [&context, key = question.log.key] {
                            const engine::TrialRecord* trial =
                                context.runtime.engine().find(key.experiment, key.trial);
                            return trial == nullptr || trial->state != engine::TrialState::running ||
                                   trial->attempts != key.attempt.number();
                          }},
                     question.log.offset);
  }));
}

/// Searches a log from some byte on, for at most search_time. Owned by what it waits for.
class LogScan : public std::enable_shared_from_this<LogScan> {
 public:
  LogScan(RequestContext& context, Call call, Question question, patterns::LinePattern pattern)
      : context_(context),
        call_(std::move(call)),
        question_(std::move(question)),
        search_(std::move(pattern), question_.log.offset),
        until_(context.runtime.now() + search_time) {}

  void go_on() {
    question_.log.offset = search_.next();
    question_.log.limit = most_log_bytes;
    question_.log.from_end = false;
    read_log(context_, question_,
             [self = shared_from_this()](const Result<FoundLog>& found) { self->take(found); });
  }

 private:
  void take(const Result<FoundLog>& found) {
    if (!found) {
      context_.answer(call_, failure(found.error()));
      return;
    }
    if (found->piece.text.empty()) {
      search_.finish();
      reply(true);
      return;
    }
    context_.reads->run([self = shared_from_this(), piece = found->piece]() -> net::Background::Afterwards {
      self->search_.add(piece.offset, piece.text);
      return [self] {
        if (self->search_.is_full() || self->context_.runtime.now() >= self->until_) {
          self->reply(false);
        } else {
          self->go_on();
        }
      };
    });
  }
  void reply(bool is_all) {
    api::LogPiece found{.attempt = question_.log.key.attempt,
                        .matches = std::vector<api::LogMatch>(),
                        .searched_to = search_.searched_to(),
                        .complete = is_all};
    for (const LogSearch::Match& match : search_.matches()) {
      found.matches->push_back({match.offset, match.line});
    }
    context_.answer(call_, with(200, found));
  }

  RequestContext& context_;
  Call call_;
  Question question_;
  LogSearch search_;
  engine::Instant until_;
};

void log(RequestContext& context, Call call) {
  const auto record = context.experiment_with_trial(call);
  const auto attempt = number_of(call.request, "attempt", 0);
  const auto offset = number_of(call.request, "offset", 0);
  const auto limit = number_of(call.request, "limit", 64 * 1024);
  const auto rank = number_of(call.request, "rank", 0);
  const auto worker = number_of(call.request, "worker", 0);
  if (!record) {
    context.answer(call, failure(record.error()));
    return;
  }
  if (const Error* error = first_error(attempt, offset, limit, rank, worker)) {
    call.reply(failure(*error));
    return;
  }
  Question question;
  question.log.stream = call.request.query_or("stream", "stdout");
  if (question.log.stream != "stdout" && question.log.stream != "stderr") {
    call.reply(failure(Error{Errc::bad_request, "stream has to be stdout or stderr"}));
    return;
  }
  question.log.offset = *offset;
  question.log.limit = std::min(*limit, most_log_bytes);
  const std::string_view from_end = call.request.query_or("from_end", "0");
  question.log.from_end = from_end == "1" || from_end == "true";
  const auto wanted_text = std::make_shared<std::string>(call.request.query_or("q", {}));
  if (!wanted_text->empty()) {
    if (const auto pattern = patterns::LinePattern::compile(*wanted_text); !pattern) {
      call.reply(failure(Error{Errc::bad_request, "q: the regular expression " +
                                                      engine::compact_json(Value(*wanted_text)) + " " +
                                                      pattern.error().message}));
      return;
    }
  }
  const std::string_view wants_follow = call.request.query_or("follow", "0");
  const bool follow = wants_follow == "1" || wants_follow == "true";
  const WantedProcess wanted{*rank, *worker};
  const auto program = jobs::read_program((*record)->effective, (*record)->config.space);
  if (!program) {
    call.reply(failure(program.error()));
    return;
  }
  question.stays_on_worker = program->log_storage == jobs::LogStorage::worker;
  context.read(
      call,
      [&context, call, question, wanted, follow, wanted_text, number = *attempt,
       numbering = context.runtime.engine().numbering(),
       level = program->launch.rank](EventStore& store) -> Committer::Then {
        const auto places = places_of(store, numbering, call.experiment(), call.trial(), number);
        Question asked = question;
        asked.lost_because = places ? places->lost_because : "";
        const engine::Status found =
            places ? ask_for(*places, level, wanted, asked.log) : engine::Status(places.error());
        return [&context, call, asked, found, follow, wanted_text] {
          if (found && !wanted_text->empty()) {
            std::make_shared<LogScan>(context, call, asked, *patterns::LinePattern::compile(*wanted_text))
                ->go_on();
          } else if (found && follow) {
            follow_log(context, call, asked);
          } else if (found) {
            read_log(context, asked, [&context, call, asked](const Result<FoundLog>& piece) {
              context.answer(call, piece ? with(200, log_piece(asked, *piece)) : failure(piece.error()));
            });
          } else {
            call.reply(failure(found.error()));
          }
        };
      });
}

/// Reads the utilization of an attempt piece by piece. Owned by what it waits for.
class UtilizationRead : public std::enable_shared_from_this<UtilizationRead> {
 public:
  UtilizationRead(RequestContext& context, Call call, Question question, const AttemptPlaces& places)
      : context_(context), call_(std::move(call)), question_(std::move(question)) {
    for (const engine::Place& node : places.nodes) {
      workers_.push_back(node.worker);
    }
  }

  void go_on() {
    question_.log.offset = next_;
    question_.log.limit = most_log_bytes;
    read_log(context_, question_,
             [self = shared_from_this()](const Result<FoundLog>& found) { self->take(found); });
  }

 private:
  void take(const Result<FoundLog>& found) {
    const bool is_absent =
        !found && (found.error().code == Errc::not_found || found.error().code == Errc::unavailable);
    if (is_absent) {
      reply(found.error().message);
    } else if (!found) {
      context_.answer(call_, failure(found.error()));
    } else if (found->piece.text.empty()) {
      reply("nothing was measured yet");
    } else {
      text_ += found->piece.text;
      next_ = found->piece.offset + found->piece.text.size();
      next_ < std::min(found->piece.size, most_utilization_bytes) ? go_on()
                                                                  : reply("nothing was measured yet");
    }
  }
  void reply(const std::string& why_none) {
    api::Utilization columns = api::utilization_of(proto::utilization_from(text_));
    columns.attempt = question_.log.key.attempt;
    columns.worker = question_.log.worker;
    columns.workers = workers_;
    if (columns.at.empty()) {
      columns.why_none = sentences::stored_in(call_.language(), why_none);
    }
    context_.answer(call_, with(200, columns));
  }

  RequestContext& context_;
  Call call_;
  Question question_;
  std::vector<engine::WorkerId> workers_;
  std::string text_;
  std::uint64_t next_ = 0;
};

void utilization(RequestContext& context, Call call) {
  const auto record = context.experiment_with_trial(call);
  const auto worker = number_of(call.request, "worker", 0);
  if (!record) {
    context.answer(call, failure(record.error()));
    return;
  }
  if (const Error* error = first_error(worker)) {
    call.reply(failure(*error));
    return;
  }
  const auto program = jobs::read_program((*record)->effective, (*record)->config.space);
  if (!program) {
    call.reply(failure(program.error()));
    return;
  }
  Question question;
  question.log.stream = proto::utilization_stream;
  question.stays_on_worker = program->log_storage == jobs::LogStorage::worker;
  context.read(call,
               [&context, call, question, wanted = WantedProcess{0, *worker}, attempt = call.numbers.at(2),
                numbering = context.runtime.engine().numbering()](EventStore& store) -> Committer::Then {
                 const auto places = places_of(store, numbering, call.experiment(), call.trial(), attempt);
                 Question asked = question;
                 asked.lost_because = places ? places->lost_because : "";
                 const engine::Status found = places
                                                  ? ask_for(*places, jobs::RankLevel::node, wanted, asked.log)
                                                  : engine::Status(places.error());
                 return [&context, call, asked, found, places] {
                   if (found) {
                     std::make_shared<UtilizationRead>(context, call, asked, *places)->go_on();
                   } else {
                     call.reply(failure(found.error()));
                   }
                 };
               });
}

constexpr QueryParameter utilization_query[] = {
    {"worker", QueryParameter::Kind::whole_number,
     "One of the attempt's workers; the first if it is not given."}};
constexpr std::string_view streams[] = {"stdout", "stderr"};
constexpr QueryParameter stream_parameter{
    "stream", QueryParameter::Kind::choice, "stdout, if it is not given.", 0, 0, streams};
constexpr QueryParameter log_query[] = {
    {"attempt", QueryParameter::Kind::whole_number, "0: the latest."},
    {"offset", QueryParameter::Kind::whole_number, "Of the first byte."},
    {"limit", QueryParameter::Kind::whole_number, "The most bytes; at most 131072 are answered."},
    {"rank", QueryParameter::Kind::whole_number, "Of the process."},
    {"worker", QueryParameter::Kind::whole_number, "The first process on this worker, whatever its rank."},
    stream_parameter,
    {"from_end", QueryParameter::Kind::choice, "Whether the offset counts from the end.", 0, 0, yes_or_no},
    {"q", QueryParameter::Kind::text,
     "A regular expression (RE2): the answer has the lines from the offset on in which it is found."},
    {"follow", QueryParameter::Kind::choice,
     "Whether the answer is a text/event-stream that grows with the log.", 0, 0, yes_or_no},
};
constexpr std::string_view search_parameters[] = {"q"};
constexpr Route log_table[] = {
    {"GET",
     "/api/v1/experiments/{experiment}/trials/{trial}/log",
     Role::viewer,
     &log,
     {"read_log", "trials", "Answers a piece of the log of a trial, or follows it",
      api::schema_of<api::LogPiece>},
     log_query,
     true,
     Reach::usual,
     {Lane::logs, search_parameters}},
    {"GET",
     "/api/v1/experiments/{experiment}/trials/{trial}/attempts/{attempt}/utilization",
     Role::viewer,
     &utilization,
     {"read_utilization", "trials",
      "Answers how many cores, how much memory and which devices an attempt used; attempt 0 is the latest",
      api::schema_of<api::Utilization>},
     utilization_query},
};

}  // namespace

std::span<const Route> log_routes() noexcept {
  return log_table;
}

}  // namespace hpsearch::daemon

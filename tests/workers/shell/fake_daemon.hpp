#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/experiment/numbering.hpp"
#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/io/zmq/zmq_port.hpp"
#include "hpsearch/proto/wire/wire.hpp"
#include "hpsearch/workers/shell/processes/process_table.hpp"

namespace hpsearch::workers::test {

/// A daemon that accepts and acknowledges everything, and sends what a test needs.
class FakeDaemon {
 public:
  explicit FakeDaemon(net::Loop& loop) : loop_(loop) { open("tcp://127.0.0.1:0"); }

  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }

  void close() { port_.reset(); }
  void reopen() {
    ++epoch_;
    open(endpoint_);
  }

  void say(const proto::FromDaemon& message) {
    const proto::Envelope envelope{
        .cluster = 99, .daemon_epoch = epoch_, .session_epoch = session_, .msg_no = ++msg_no_};
    const proto::Bytes frame = proto::encode(envelope, message);
    EXPECT_TRUE(port_ && port_->send(peer_, frame));
  }

  /// Runs the loop until `done` returns true; a failure after a minute.
  void until(const std::string& what, const std::function<bool()>& done) {
    if (done()) {
      return;
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    bool ok = false;
    const net::Watch look = loop_.every(std::chrono::milliseconds(2), [&] {
      ok = done();
      if (ok || std::chrono::steady_clock::now() > deadline) {
        loop_.stop();
      }
    });
    loop_.run();
    ASSERT_TRUE(ok) << "waited in vain for: " << what << "; until then " << heard();
  }

  /// The progress so far, for the message of a failure.
  std::string heard() const {
    std::string text = std::to_string(hellos.size()) + " HELLO, " + std::to_string(frames_) + " frames, " +
                       std::to_string(stale_frames_) + " of them of another session, " +
                       std::to_string(started.size()) + " STARTED";
    for (const auto& [key, reports] : reports_) {
      text +=
          ", " + std::to_string(reports.size()) + " reports of trial " + std::to_string(key.trial.number());
    }
    return text;
  }

  std::vector<engine::Report>& reports(const engine::AttemptKey& key) { return reports_[key]; }
  template <class Wanted>
  std::vector<Wanted> reports_of(const engine::AttemptKey& key) {
    std::vector<Wanted> found;
    for (const engine::Report& report : reports_[key]) {
      if (const auto* wanted = std::get_if<Wanted>(&report)) {
        found.push_back(*wanted);
      }
    }
    return found;
  }
  engine::ExitReport wait_for_exit(const engine::AttemptKey& key) {
    until("the exit report", [&] { return !reports_of<engine::ExitReport>(key).empty(); });
    const auto exits = reports_of<engine::ExitReport>(key);
    return exits.empty() ? engine::ExitReport{} : exits.back();
  }

  std::vector<proto::Hello> hellos;
  std::vector<proto::Envelope> hello_envelopes;
  std::vector<proto::LogPart> parts;
  std::vector<proto::Beat> beats;
  std::vector<engine::AttemptKey> started;
  std::vector<engine::Lsn> decision_acks;
  bool goodbye = false;

 private:
  void open(const std::string& endpoint) {
    session_ = 0;
    auto port = net::RouterPort::bind(
        loop_, endpoint, proto::max_frame_bytes,
        [this](const net::Peer& peer, std::span<const std::byte> frame) { on_event(peer, frame); });
    ASSERT_TRUE(port.has_value()) << port.error().message;
    port_ = *std::move(port);
    endpoint_ = port_->endpoint();
  }

  void on_event(const net::Peer& peer, std::span<const std::byte> frame) {
    auto decoded = proto::decode_from_worker(frame);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
    peer_ = peer;
    ++frames_;
    const proto::Envelope& envelope = decoded->envelope;
    if (const auto* hello = std::get_if<proto::Hello>(&decoded->message)) {
      hellos.push_back(*hello);
      hello_envelopes.push_back(envelope);
      session_ = epoch_ * 1000 + hellos.size();
      proto::Welcome welcome;
      welcome.worker = engine::WorkerId{1};
      welcome.beat_every_ms = 200;
      for (const engine::HeldAttempt& held : hello->held) {
        welcome.attempts.push_back({held.key, engine::WelcomeWorker::Fate::go_on, reports_[held.key].size()});
      }
      say(welcome);
      return;
    }
    if (envelope.session_epoch != session_) {
      ++stale_frames_;
      say(proto::Resync{});
      return;
    }
    if (const auto* start = std::get_if<proto::Started>(&decoded->message)) {
      started.push_back(start->key);
    } else if (const auto* ack = std::get_if<proto::DecisionAck>(&decoded->message)) {
      decision_acks.push_back(ack->decision);
    } else if (const auto* part = std::get_if<proto::LogPart>(&decoded->message)) {
      parts.push_back(*part);
    } else if (const auto* beat = std::get_if<proto::Beat>(&decoded->message)) {
      beats.push_back(*beat);
    } else if (std::holds_alternative<proto::Goodbye>(decoded->message)) {
      goodbye = true;
    } else if (const auto* sent = std::get_if<proto::Reports>(&decoded->message)) {
      std::vector<engine::Report>& known = reports_[sent->key];
      ASSERT_LE(sent->first_seq, known.size() + 1) << "a gap";
      for (std::size_t i = 0; i < sent->reports.size(); ++i) {
        if (sent->first_seq + i > known.size()) {
          known.push_back(sent->reports[i]);
        }
      }
      say(proto::Ack{sent->key, known.size()});
    }
  }

  net::Loop& loop_;
  std::unique_ptr<net::RouterPort> port_;
  std::string endpoint_;
  net::Peer peer_;
  std::uint64_t epoch_ = 1;
  std::uint64_t session_ = 0;
  std::uint64_t msg_no_ = 0;
  std::uint64_t frames_ = 0;
  std::uint64_t stale_frames_ = 0;
  std::map<engine::AttemptKey, std::vector<engine::Report>> reports_;
};

/// The key of the same number that was leased after the daemon's store was restored from an older copy.
inline engine::AttemptKey after_a_restore(engine::AttemptKey key) {
  key.lease = engine::LeaseId(engine::Numbering::first_after_a_restore + key.lease.number());
  return key;
}

inline engine::AttemptKey key_of(std::uint64_t trial, std::uint64_t attempt = 1) {
  return {engine::ExperimentId{1}, engine::TrialNumber{trial}, engine::AttemptNumber{attempt},
          engine::LeaseId{100 * trial + attempt}};
}

/// A lease of length 3 on slot 0, with the metric "acc".
inline jobs::LaunchSpec spec_of(const engine::AttemptKey& key, jobs::Entrypoint entrypoint) {
  jobs::LaunchSpec spec;
  spec.key = key;
  spec.trial_id = engine::TrialId{key.trial.number() + 1};
  spec.experiment_name = "test";
  spec.slots = {engine::SlotIndex{0}};
  spec.entrypoint = std::move(entrypoint);
  spec.hparams = engine::Value::Map{{"lr", 0.5}, {"units", 64}};
  spec.length = engine::Units{3};
  spec.unit = "epochs";
  spec.metric = "acc";
  return spec;
}

/// A zombie is dead; its parent may need
/// a moment to reap it.
inline bool runs(pid_t pid) {
  const auto info = process_info(pid);
  return info && !info->dead();
}

inline jobs::Entrypoint shell(std::string line) {
  return {std::move(line)};
}

/// A Python program with `say(message)`, which sends to the socket and returns the answer.
inline jobs::Entrypoint python(const std::string& body) {
  const std::string head = R"(
import json, os, socket, sys
stream = socket.socket(socket.AF_UNIX)
stream.connect(os.environ["HPSEARCH_SOCKET"])
lines = stream.makefile("rw")
def say(**message):
    print(json.dumps(message), file=lines, flush=True)
    return json.loads(lines.readline())
)";
  return {std::vector<std::string>{"/usr/bin/python3", "-c", [&] {
                                     std::string text = head + body;
                                     std::string doubled;  // Braces are placeholders in an entrypoint.
                                     for (const char c : text) {
                                       doubled.append(c == '{' || c == '}' ? 2 : 1, c);
                                     }
                                     return doubled;
                                   }()}};
}

}  // namespace hpsearch::workers::test

#pragma once

#include "hpsearch/proto/wire/spell_attempt.hpp"
#include "hpsearch/proto/wire/wire.hpp"

// The messages. A tag is the message's type in its envelope.

namespace hpsearch::proto {

// --- worker → daemon ---

void spell(auto& fields, Is<SharedSlots> auto& shared) {
  fields("number", shared.number);
  fields.maybe("taken", shared.taken);
}

template <>
inline constexpr const char* tag_of<Hello> = "HELLO";
void spell(auto& fields, Is<Hello> auto& hello) {
  fields("speaks_from", hello.speaks_from);
  fields("speaks_to", hello.speaks_to);
  fields("uid", hello.uid);
  fields("name", hello.name);
  fields("incarnation", hello.incarnation);
  fields.maybe("boot_id", hello.boot_id);
  fields.maybe("pid", hello.pid);
  fields("slots", hello.slots);
  fields("slot_kind", hello.slot_kind);
  fields.maybe("held", hello.held);
  fields.maybe("kills_by", hello.kills_by);
  fields.maybe("devices", hello.devices);
  fields.maybe("pool", hello.pool);
  fields.maybe("labels", hello.labels);
  fields.maybe("troubles", hello.troubles);
  fields.maybe("address", hello.address);
  fields.maybe("nonce", hello.nonce);
  fields.maybe("max_unslotted", hello.max_unslotted);
  fields.maybe("host", hello.host);
  fields.maybe("version", hello.version);
  fields.maybe("allocation", hello.allocation);
  fields.maybe("time_left", hello.time_left);
  fields.maybe("shared", hello.shared);
}

void spell(auto& fields, Is<Progress> auto& progress) {
  spell(fields, progress.key);
  fields.maybe("step", progress.step);
  fields.maybe("silent_ms", progress.silent_ms);
  fields.maybe("utilization", progress.utilization);
}

template <>
inline constexpr const char* tag_of<Beat> = "BEAT";
void spell(auto& fields, Is<Beat> auto& beat) {
  fields.maybe("progress", beat.progress);
  fields.maybe("leaked_processes", beat.leaked_processes);
  fields.maybe("draining", beat.draining);
  fields.maybe("troubles", beat.troubles);
  fields.maybe("checkpoint_problem", beat.checkpoint_problem);
  fields.maybe("time_left", beat.time_left);
  fields.maybe("shared", beat.shared);
}

template <>
inline constexpr const char* tag_of<Started> = "STARTED";
void spell(auto& fields, Is<Started> auto& started) {
  spell(fields, started.key);
}

template <>
inline constexpr const char* tag_of<Reports> = "REPORTS";
void spell(auto& fields, Is<Reports> auto& reports) {
  spell(fields, reports.key);
  fields("first_seq", reports.first_seq);
  fields("reports", reports.reports);
}

template <>
inline constexpr const char* tag_of<DecisionAck> = "DECISION_ACK";
void spell(auto& fields, Is<DecisionAck> auto& ack) {
  spell(fields, ack.key);
  fields("decision", ack.decision);
}

template <>
inline constexpr const char* tag_of<LogPart> = "LOG_PART";
void spell(auto& fields, Is<LogPart> auto& part) {
  fields("request", part.request);
  fields.maybe("offset", part.offset);
  fields.maybe("size", part.size);
  fields.bytes("text", part.text);
  fields.maybe("problem", part.problem);
}

template <>
inline constexpr const char* tag_of<Goodbye> = "GOODBYE";
void spell(auto& fields, Is<Goodbye> auto& goodbye) {
  fields.maybe("why", goodbye.why);
}

template <>
inline constexpr const char* tag_of<LogNotKept> = "LOG_NOT_KEPT";
void spell(auto& fields, Is<LogNotKept> auto& lost) {
  spell(fields, lost.key);
  fields.maybe("why", lost.why);
}

template <>
inline constexpr const char* tag_of<Join> = "JOIN";
void spell(auto& fields, Is<Join> auto& join) {
  fields("name", join.name);
  fields("public_key", join.public_key);
}

// --- daemon → worker ---

template <>
inline constexpr const char* tag_of<Welcome> = "WELCOME";
void spell(auto& fields, Is<Welcome> auto& welcome) {
  fields("worker", welcome.worker);
  fields("beat_every_ms", welcome.beat_every_ms);
  fields.maybe("attempts", welcome.attempts);
  fields.maybe("http", welcome.http);
  fields.maybe("hello", welcome.hello);
  fields.maybe("credit", welcome.credit);
  fields.maybe("http_key", welcome.http_key);
  fields.maybe("checkpoint_root", welcome.checkpoint_root);
}

template <>
inline constexpr const char* tag_of<Lease> = "LEASE";
void spell(auto& fields, Is<Lease> auto& lease) {
  spell(fields, lease.spec);
}

template <>
inline constexpr const char* tag_of<Ack> = "ACK";
void spell(auto& fields, Is<Ack> auto& ack) {
  spell(fields, ack.key);
  fields("upto", ack.upto);
  fields.maybe("credit", ack.credit);
}

template <>
inline constexpr const char* tag_of<Nack> = "NACK";
void spell(auto& fields, Is<Nack> auto& nack) {
  spell(fields, nack.key);
  fields("expect", nack.expect);
}

template <>
inline constexpr const char* tag_of<Decide> = "DECISION";
void spell(auto& fields, Is<Decide> auto& decide) {
  spell(fields, decide.key);
  spell(fields, decide.decision);
}

template <>
inline constexpr const char* tag_of<Fenced> = "FENCED";
void spell(auto& fields, Is<Fenced> auto& fenced) {
  spell(fields, fenced.key);
}

template <>
inline constexpr const char* tag_of<Hold> = "HOLD";
void spell(auto& fields, Is<Hold> auto& hold) {
  spell(fields, hold.key);
}

template <>
inline constexpr const char* tag_of<Resync> = "RESYNC";
void spell(auto& /*fields*/, Is<Resync> auto& /*resync*/) {
}

template <>
inline constexpr const char* tag_of<ReadLog> = "READ_LOG";
void spell(auto& fields, Is<ReadLog> auto& read) {
  fields("request", read.request);
  spell(fields, read.key);
  fields("stream", read.stream);
  fields.maybe("offset", read.offset);
  fields("limit", read.limit);
  fields.maybe("from_end", read.from_end);
  fields.maybe("process", read.process);
}

template <>
inline constexpr const char* tag_of<RetryAfter> = "RETRY_AFTER";
void spell(auto& fields, Is<RetryAfter> auto& retry) {
  fields("after_ms", retry.after_ms);
}

template <>
inline constexpr const char* tag_of<Refused> = "REFUSED";
void spell(auto& fields, Is<Refused> auto& refused) {
  fields.maybe("why", refused.why);
  fields.maybe("incarnation", refused.incarnation);
}

template <>
inline constexpr const char* tag_of<Joined> = "JOINED";
void spell(auto& fields, Is<Joined> auto& joined) {
  fields("name", joined.name);
}

template <>
inline constexpr const char* tag_of<Wanted> = "WANTED";
void spell(auto& fields, Is<Wanted> auto& wanted) {
  fields.maybe("slots", wanted.slots);
  fields("number", wanted.number);
}

}  // namespace hpsearch::proto

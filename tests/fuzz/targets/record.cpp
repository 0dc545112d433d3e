#include "hpsearch/proto/encoding/record.hpp"

#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/proto/api/daemon_file.hpp"
#include "hpsearch/proto/wire/spell_attempt.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/json_file.hpp"
#include "hpsearch/workers/shell/shim/launch_order.hpp"

// The small files that our own processes write for each other. A record that is written can be read, and is
// then written the same. The first byte says which.

namespace hpsearch::fuzz {
namespace {

template <class Record>
void check_binary(std::string_view bytes) {
  const auto record = proto::decode_record<Record>(bytes);
  if (!record) {
    HPSEARCH_CHECK(!record.error().message.empty(), "an error has a reason");
    return;
  }
  const std::string written = proto::encode_record(*record);
  const auto again = proto::decode_record<Record>(written);
  HPSEARCH_CHECK(again && proto::encode_record(*again) == written,
                 "what is written can be read, and is the same");
}

template <class Record>
void check_json(std::string_view bytes) {
  const auto json = proto::parse_json(bytes);
  const auto record = json ? proto::decode_value<Record>(*json) : engine::Result<Record>(json.error());
  if (!record) {
    HPSEARCH_CHECK(!record.error().message.empty(), "an error has a reason");
    return;
  }
  const std::string written = engine::compact_json(proto::encode_value(*record));
  const auto again = proto::decode_value<Record>(*proto::parse_json(written));
  HPSEARCH_CHECK(again && engine::compact_json(proto::encode_value(*again)) == written,
                 "what is written can be read, and is the same");
}

void run_record(std::string_view bytes) {
  Parts parts(bytes);
  switch (parts.byte() % 3) {
    case 0:
      return check_binary<workers::LaunchOrder>(parts.rest());
    case 1:
      return check_json<workers::ProcessRecord>(parts.rest());
    default:
      return check_json<proto::DaemonFile>(parts.rest());
  }
}

Seeds record_seeds() {
  workers::LaunchOrder order;
  order.report_socket = "/run/1/socket";
  order.agent_socket = "/run/1/agent.socket";
  order.metric_patterns = {{"loss", "loss=(.*)"}};
  order.first_step = engine::Units{3};
  const workers::ProcessRecord process{4711, 123'456, "boot", "/run/1/socket", "/sys/fs/cgroup/x"};
  const proto::DaemonFile daemon{
      "unix:///x/api.sock", "127.0.0.1:8077", "tcp://127.0.0.1:8078", "0.1.0", 5, 99};
  return {std::string("\0", 1) + proto::encode_record(order),
          '\1' + engine::compact_json(proto::encode_value(process)),
          '\2' + engine::compact_json(proto::encode_value(daemon))};
}

const Registered record_target({"record", run_record, record_seeds});

}  // namespace
}  // namespace hpsearch::fuzz

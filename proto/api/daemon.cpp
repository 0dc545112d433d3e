#include "hpsearch/proto/api/daemon.hpp"

#include "hpsearch/proto/encoding/spelling.hpp"
#include "hpsearch/proto/encoding/value_writer.hpp"

namespace hpsearch::api {

void put(proto::ValueWriter& out, const Event& event) {
  out.value(event.value);
}

bool read(proto::MsgpackItem item, Event& event, proto::Trouble& trouble) {
  return proto::read(item, event.value, trouble);
}

Error error_of(const engine::Error& error, const engine::Problems& problems) {
  Error answer{.code = engine::name_of(error.code), .message = error.message};
  for (const engine::Problem& problem : problems) {
    answer.problems.push_back({problem.path, problem.what, problem.allowed});
  }
  return answer;
}

}  // namespace hpsearch::api

#pragma once

#include <functional>

#include "daemon/http/http_request_context.hpp"
#include "hpsearch/proto/views/columns.hpp"

namespace hpsearch::daemon {

/// Reads columns of the trials of an experiment in short turns of the loop, all of the moment at which the
/// last turn ends, and calls `then` in that moment. Answers itself if something is wrong.
void read_columns(
    RequestContext& context, const Call& call, const views::ColumnsQuery& query,
    std::function<void(const engine::ExperimentRecord& experiment, views::ColumnScan read)> then);

/// Answers with columns of the trials of an experiment, which are read in short turns of the loop and are all
/// of the moment at which the last turn ends. `spell` makes the answer beside the loop.
void answer_with_columns(RequestContext& context, const Call& call, const views::ColumnsQuery& query,
                         std::function<net::HttpResponse(const views::Columns&)> spell);

}  // namespace hpsearch::daemon

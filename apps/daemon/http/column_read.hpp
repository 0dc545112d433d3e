#pragma once

#include <functional>

#include "daemon/http/http_request_context.hpp"
#include "hpsearch/proto/views/columns.hpp"

namespace hpsearch::daemon {

/// Reads columns of the trials of an experiment in short turns of the loop. All values are those at the end
/// of the last turn; `then` is called in that turn. Answers the call itself if something is wrong.
void read_columns(
    RequestContext& context, const Call& call, const views::ColumnsQuery& query,
    std::function<void(const engine::ExperimentRecord& experiment, views::ColumnScan read)> then);

/// Answers with columns of the trials of an experiment, which are read in short turns of the loop. All values
/// are those at the end of the last turn. `spell` makes the response beside the loop.
void answer_with_columns(RequestContext& context, const Call& call, const views::ColumnsQuery& query,
                         std::function<net::HttpResponse(const views::Columns&)> spell);

}  // namespace hpsearch::daemon

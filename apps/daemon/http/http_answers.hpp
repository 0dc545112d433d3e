#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/jobs/yaml/read_text.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::daemon {

// How responses are spelled.

[[nodiscard]] net::HttpResponse with(unsigned status, const engine::Value& value);
/// A struct of the API (proto/api).
template <proto::Described Answer>
[[nodiscard]] net::HttpResponse with(unsigned status, const Answer& answer) {
  return with(status, proto::encode_value(answer));
}
/// Failures are problems (io/http/http_problem.hpp); by default the error's code decides the status.
[[nodiscard]] net::HttpResponse failure(const engine::Error& error);
[[nodiscard]] net::HttpResponse failure(unsigned status, const engine::Error& error);

/// Whether the paths of problems name parts of the body or of the query.
enum class ProblemsIn : bool { body, query };
/// Status 400. The items of `errors` have `pointer` (a JSON pointer) or `parameter`, `detail`, `allowed`, and
/// `line` if the text has lines.
[[nodiscard]] net::HttpResponse failure(const std::string& message, const engine::Problems& problems,
                                        ProblemsIn where = ProblemsIn::body);
[[nodiscard]] net::HttpResponse failure(const std::string& message,
                                        const std::vector<yaml::FileProblem>& problems);
[[nodiscard]] engine::Value::List problem_items(const std::vector<yaml::FileProblem>& problems);
/// "/searcher/prior/2/step" for "searcher.prior[2].step".
[[nodiscard]] std::string json_pointer(std::string_view path);

/// The response to a caller without permission (401, 403, 429).
[[nodiscard]] net::HttpResponse refusal(unsigned status, const std::string& message);

}  // namespace hpsearch::daemon

#include "daemon/store/postgresql/connection.hpp"

#include <array>
#include <limits>
#include <utility>

#include "daemon/store/postgresql/libpq.hpp"
#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

// Types of PostgreSQL, by the numbers that they have in every database.
constexpr unsigned bytea = 17;
constexpr unsigned bigint = 20;
constexpr unsigned text_type = 25;
constexpr unsigned bytea_array = 1001;
constexpr unsigned bigint_array = 1016;

// A connection that ends without a word is noticed within seconds. The address of the store can have others.
constexpr std::array<LibPq::Option, 7> settings_by_default{{
    {"connect_timeout", "5"},
    {"keepalives_idle", "5"},
    {"keepalives_interval", "5"},
    {"keepalives_count", "2"},
    {"tcp_user_timeout", "15000"},
    {"target_session_attrs", "read-write"},
    {"fallback_application_name", "hpsearch"},
}};

/// Loaded: without it there is no connection, and nothing else to call.
const LibPq& pq() {
  return **LibPq::usual();
}

/// The highest byte first.
template <class Number>
void put(std::string& to, Number number) {
  for (std::size_t i = sizeof number; i-- > 0;) {
    to += static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xFFU);
  }
}

std::string array_head(std::size_t size, unsigned type) {
  HPSEARCH_CHECK(size <= std::numeric_limits<std::int32_t>::max(), "no group has that many rows");
  std::string head;
  put(head, std::uint32_t{size > 0 ? 1U : 0U});  // Dimensions.
  put(head, std::uint32_t{0});                   // Without nulls.
  put(head, std::uint32_t{type});
  if (size > 0) {
    put(head, static_cast<std::uint32_t>(size));
    put(head, std::uint32_t{1});  // The first index.
  }
  return head;
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char letter : text) {
    const bool is_space = letter == '\n' || letter == '\t' || letter == ' ';
    if (!is_space || (!line.empty() && line.back() != ' ')) {
      line += is_space ? ' ' : letter;
    }
  }
  while (!line.empty() && line.back() == ' ') {
    line.pop_back();
  }
  return line;
}

/// The code of an error, which says what its caller can do, by its SQLSTATE.
Errc code_of(std::string_view state) {
  for (const std::string_view later : {"08", "53", "57P", "57014", "55P03", "40", "25006"}) {
    if (state.starts_with(later)) {
      return Errc::unavailable;
    }
  }
  return state == "3D000"                              ? Errc::not_found
         : state == "42501" || state.starts_with("28") ? Errc::bad_request
                                                       : Errc::corrupt;
}

/// Whether a connection is of no more use after this error: the server ends, or is a standby by now.
bool ends(std::string_view state) {
  return state.starts_with("08") || state.starts_with("57P") || state == "25006";
}

}  // namespace

Parameters& Parameters::number(std::uint64_t number) {
  put(values_.emplace_back(), number);
  types_.push_back(bigint);
  return *this;
}

Parameters& Parameters::text(std::string_view text) {
  values_.emplace_back(text);
  types_.push_back(text_type);
  return *this;
}

Parameters& Parameters::numbers(std::span<const std::uint64_t> numbers) {
  std::string& value = values_.emplace_back(array_head(numbers.size(), bigint));
  for (const std::uint64_t number : numbers) {
    put(value, std::uint32_t{sizeof number});
    put(value, number);
  }
  types_.push_back(bigint_array);
  return *this;
}

Parameters& Parameters::byte_strings(std::span<const std::string> strings) {
  std::string& value = values_.emplace_back(array_head(strings.size(), bytea));
  for (const std::string& one : strings) {
    put(value, static_cast<std::uint32_t>(one.size()));
    value += one;
  }
  types_.push_back(bytea_array);
  return *this;
}

void FreeRows::operator()(pg_result* rows) const noexcept {
  pq().clear(rows);
}

int Rows::count() const noexcept {
  return pq().rows(rows_.get());
}

bool Rows::is_null(int row, int column) const noexcept {
  return pq().is_null(rows_.get(), row, column);
}

std::uint64_t Rows::number(int row, int column) const noexcept {
  std::uint64_t number = 0;
  for (const std::byte byte : bytes(row, column)) {
    number = number << 8U | std::to_integer<std::uint64_t>(byte);
  }
  return number;
}

std::string_view Rows::text(int row, int column) const noexcept {
  return pq().value(rows_.get(), row, column);
}

std::span<const std::byte> Rows::bytes(int row, int column) const noexcept {
  return std::as_bytes(std::span(text(row, column)));
}

void EndConnection::operator()(pg_conn* connection) const noexcept {
  pq().finish(connection);
}

Connection::Connection(DatabaseUrl url, std::string settings)
    : url_(std::move(url)), settings_(std::move(settings)) {
}

void Connection::close() noexcept {
  connection_.reset();
  prepared_.clear();
}

Status Connection::connect() {
  if (connection_) {
    return Done{};
  }
  if (in_transaction_) {
    return Error{Errc::unavailable, "the connection to " + url() + " was lost"};
  }
  std::vector<LibPq::Option> options(settings_by_default.begin(), settings_by_default.end());
  options.emplace_back("dbname", url().c_str());
  options.emplace_back("client_encoding", "UTF8");
  connection_.reset(pq().connect(options));
  if (!pq().is_connected(connection_.get())) {
    const std::string why = one_line(pq().message(connection_.get()));
    close();
    // A refusal at the beginning has no SQLSTATE.
    const bool refused = why.find("authentication failed") != std::string::npos ||
                         why.find("no password supplied") != std::string::npos ||
                         why.find("no pg_hba.conf entry") != std::string::npos;
    const bool no_database =
        why.find("database \"") != std::string::npos && why.find("does not exist") != std::string::npos;
    return Error{refused       ? Errc::bad_request
                 : no_database ? Errc::not_found
                               : Errc::unavailable,
                 "cannot connect to " + url() + ": " + why};
  }
  return settings_.empty() ? Status(Done{}) : run_all(settings_);
}

/// The error of a statement. A connection that is of no more use is closed.
Error Connection::problem(const pg_result* result) {
  const std::string state = pq().state(result);
  // An error without SQLSTATE is libpq's own. After a failed write it still calls the connection a good one.
  const bool lost = state.empty() || !pq().is_connected(connection_.get()) || ends(state);
  const std::string message = pq().message(result);
  const std::string why = one_line(message.empty() ? pq().message(connection_.get()) : message);
  if (lost) {
    close();
  }
  return Error{lost ? Errc::unavailable : code_of(state), url() + ": " + why};
}

Result<std::string> Connection::prepare(const std::string& sql, const Parameters& parameters) {
  if (const auto found = prepared_.find(sql); found != prepared_.end()) {
    return found->second;
  }
  std::string name = "hpsearch_" + std::to_string(prepared_.size());
  const std::unique_ptr<pg_result, FreeRows> done(
      pq().prepare(connection_.get(), name.c_str(), sql.c_str(), parameters.types_));
  if (!pq().succeeded(done.get())) {
    return problem(done.get());
  }
  prepared_.emplace(sql, name);
  return name;
}

Result<Rows> Connection::run(const std::string& sql, const Parameters& parameters) {
  if (auto connected = connect(); !connected) {
    return connected.error();
  }
  const auto name = prepare(sql, parameters);
  if (!name) {
    return name.error();
  }
  Rows rows(pq().run(connection_.get(), name->c_str(), parameters.values_));
  return pq().succeeded(rows.rows_.get()) ? Result<Rows>(std::move(rows))
                                          : Result<Rows>(problem(rows.rows_.get()));
}

Result<Rows> Connection::read(const std::string& sql, const Parameters& parameters) {
  auto rows = run(sql, parameters);
  const bool lost = !rows && rows.error().code == Errc::unavailable && !connection_ && !in_transaction_;
  return lost ? run(sql, parameters) : std::move(rows);
}

Status Connection::run_all(const std::string& statements) {
  if (auto connected = connect(); !connected) {
    return connected;
  }
  const std::unique_ptr<pg_result, FreeRows> done(pq().execute(connection_.get(), statements.c_str()));
  return pq().succeeded(done.get()) ? Status(Done{}) : Status(problem(done.get()));
}

Status Connection::begin(const std::string& kind) {
  Status begun = run_all("BEGIN " + kind);
  in_transaction_ = static_cast<bool>(begun);
  return begun;
}

Status Connection::commit() {
  Status done = run_all("COMMIT");
  in_transaction_ = false;
  return done;
}

}  // namespace hpsearch::daemon

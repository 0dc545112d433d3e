#include "daemon/store/postgresql/libpq.hpp"

#include <dlfcn.h>
#include <libpq-fe.h>

#include <limits>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;

/// Has this name since PostgreSQL 8.2, of 2006.
constexpr const char* library = "libpq.so.5";
constexpr int binary = 1;

Error not_loaded() {
  const char* why = ::dlerror();
  return Error{Errc::unavailable,
               "a store in PostgreSQL needs the library libpq (Debian's package libpq5): " +
                   std::string(why == nullptr ? "unknown error" : why)};
}

template <class Function>
bool find(void* in, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(in, name));
  return function != nullptr;
}

std::string text_of(const char* text) {
  return text == nullptr ? "" : text;
}

}  // namespace

struct LibPq::Functions {
  decltype(&::PQconninfoParse) parse = nullptr;
  decltype(&::PQconninfoFree) free_parsed = nullptr;
  decltype(&::PQfreemem) free_text = nullptr;
  decltype(&::PQconnectdbParams) connect = nullptr;
  decltype(&::PQfinish) finish = nullptr;
  decltype(&::PQstatus) status = nullptr;
  decltype(&::PQerrorMessage) message = nullptr;
  decltype(&::PQsetNoticeProcessor) set_notice_processor = nullptr;
  decltype(&::PQexec) execute = nullptr;
  decltype(&::PQprepare) prepare = nullptr;
  decltype(&::PQexecPrepared) run = nullptr;
  decltype(&::PQresultStatus) result_status = nullptr;
  decltype(&::PQresultErrorField) result_field = nullptr;
  decltype(&::PQclear) clear = nullptr;
  decltype(&::PQntuples) rows = nullptr;
  decltype(&::PQgetisnull) is_null = nullptr;
  decltype(&::PQgetlength) length = nullptr;
  decltype(&::PQgetvalue) value = nullptr;

  bool find_in(void* loaded) {
    return find(loaded, "PQconninfoParse", parse) && find(loaded, "PQconninfoFree", free_parsed) &&
           find(loaded, "PQfreemem", free_text) && find(loaded, "PQconnectdbParams", connect) &&
           find(loaded, "PQfinish", finish) && find(loaded, "PQstatus", status) &&
           find(loaded, "PQerrorMessage", message) &&
           find(loaded, "PQsetNoticeProcessor", set_notice_processor) && find(loaded, "PQexec", execute) &&
           find(loaded, "PQprepare", prepare) && find(loaded, "PQexecPrepared", run) &&
           find(loaded, "PQresultStatus", result_status) &&
           find(loaded, "PQresultErrorField", result_field) && find(loaded, "PQclear", clear) &&
           find(loaded, "PQntuples", rows) && find(loaded, "PQgetisnull", is_null) &&
           find(loaded, "PQgetlength", length) && find(loaded, "PQgetvalue", value);
  }
};

Result<LibPq> LibPq::load(const char* file) {
  void* const loaded = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) {
    return not_loaded();
  }
  auto functions = std::make_shared<Functions>();
  return functions->find_in(loaded) ? Result<LibPq>(LibPq(std::move(functions)))
                                    : Result<LibPq>(not_loaded());
}

Result<const LibPq*> LibPq::usual() {
  static const Result<LibPq> loaded = load(library);
  return loaded ? Result<const LibPq*>(&*loaded) : Result<const LibPq*>(loaded.error());
}

Result<std::map<std::string, std::string>> LibPq::parse(const std::string& address) const {
  char* why = nullptr;
  PQconninfoOption* const options = call_->parse(address.c_str(), &why);
  if (options == nullptr) {
    const std::string message = why == nullptr ? "there is not enough memory" : why;
    call_->free_text(why);
    return Error{Errc::bad_request, message};
  }
  std::map<std::string, std::string> given;
  for (const PQconninfoOption* option = options; option->keyword != nullptr; ++option) {
    if (option->val != nullptr) {
      given.emplace(option->keyword, option->val);
    }
  }
  call_->free_parsed(options);
  return given;
}

pg_conn* LibPq::connect(std::span<const Option> options) const {
  std::vector<const char*> names;
  std::vector<const char*> values;
  for (const auto& [name, value] : options) {
    names.push_back(name);
    values.push_back(value);
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  pg_conn* const connection = call_->connect(names.data(), values.data(), /*expand_dbname=*/1);
  if (connection != nullptr) {
    call_->set_notice_processor(
        connection, [](void*, const char*) {}, nullptr);  // By default, notices go to stderr.
  }
  return connection;
}

void LibPq::finish(pg_conn* connection) const noexcept {
  call_->finish(connection);
}

bool LibPq::is_connected(const pg_conn* connection) const noexcept {
  return connection != nullptr && call_->status(connection) == CONNECTION_OK;
}

std::string LibPq::message(const pg_conn* connection) const {
  return connection == nullptr ? "there is not enough memory" : text_of(call_->message(connection));
}

pg_result* LibPq::execute(pg_conn* connection, const char* statements) const {
  return call_->execute(connection, statements);
}

pg_result* LibPq::prepare(pg_conn* connection, const char* name, const char* statement,
                          std::span<const unsigned> types) const {
  return call_->prepare(connection, name, statement, static_cast<int>(types.size()), types.data());
}

pg_result* LibPq::run(pg_conn* connection, const char* name, std::span<const std::string> values) const {
  std::vector<const char*> places;
  std::vector<int> lengths;
  for (const std::string& value : values) {
    HPSEARCH_CHECK(value.size() <= std::numeric_limits<int>::max(), "no commit is that large");
    places.push_back(value.data());
    lengths.push_back(static_cast<int>(value.size()));
  }
  const std::vector<int> formats(values.size(), binary);
  return call_->run(connection, name, static_cast<int>(values.size()), places.data(), lengths.data(),
                    formats.data(), binary);
}

bool LibPq::succeeded(const pg_result* result) const noexcept {
  const ExecStatusType status = call_->result_status(result);
  return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

std::string LibPq::state(const pg_result* result) const {
  return text_of(call_->result_field(result, PG_DIAG_SQLSTATE));
}

std::string LibPq::message(const pg_result* result) const {
  return text_of(call_->result_field(result, PG_DIAG_MESSAGE_PRIMARY));
}

void LibPq::clear(pg_result* result) const noexcept {
  call_->clear(result);
}

int LibPq::rows(const pg_result* result) const noexcept {
  return call_->rows(result);
}

bool LibPq::is_null(const pg_result* result, int row, int column) const noexcept {
  return call_->is_null(result, row, column) != 0;
}

std::string_view LibPq::value(const pg_result* result, int row, int column) const noexcept {
  return {call_->value(result, row, column), static_cast<std::size_t>(call_->length(result, row, column))};
}

}  // namespace hpsearch::daemon

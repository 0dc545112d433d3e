#include "daemon/store/postgresql/libpq.hpp"

#include <dlfcn.h>

#include <string>

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;

/// Has this name since PostgreSQL 8.2, of 2006.
constexpr const char* library = "libpq.so.5";

Error not_loaded() {
  const char* why = ::dlerror();
  return Error{Errc::unavailable, "a store in PostgreSQL needs the library libpq (Debian's package libpq5): " +
                                      std::string(why == nullptr ? "unknown error" : why)};
}

template <class Function>
bool find(void* in, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(in, name));
  return function != nullptr;
}

}  // namespace

Result<LibPq> load_libpq(const char* file) {
  void* const loaded = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) {
    return not_loaded();
  }
  LibPq pq;
  const bool all = find(loaded, "PQconninfoParse", pq.parse) &&
                   find(loaded, "PQconninfoFree", pq.free_parsed) &&
                   find(loaded, "PQfreemem", pq.free_text) &&
                   find(loaded, "PQconnectdbParams", pq.connect) && find(loaded, "PQfinish", pq.finish) &&
                   find(loaded, "PQstatus", pq.status) && find(loaded, "PQerrorMessage", pq.message) &&
                   find(loaded, "PQsetNoticeProcessor", pq.set_notice_processor) &&
                   find(loaded, "PQexec", pq.execute) && find(loaded, "PQprepare", pq.prepare) &&
                   find(loaded, "PQexecPrepared", pq.execute_prepared) &&
                   find(loaded, "PQresultStatus", pq.result_status) &&
                   find(loaded, "PQresultErrorField", pq.result_field) &&
                   find(loaded, "PQclear", pq.clear) && find(loaded, "PQntuples", pq.rows) &&
                   find(loaded, "PQgetisnull", pq.is_null) && find(loaded, "PQgetlength", pq.length) &&
                   find(loaded, "PQgetvalue", pq.value);
  return all ? Result<LibPq>(pq) : Result<LibPq>(not_loaded());
}

Result<const LibPq*> libpq() {
  static const Result<LibPq> loaded = load_libpq(library);
  return loaded ? Result<const LibPq*>(&*loaded) : Result<const LibPq*>(loaded.error());
}

}  // namespace hpsearch::daemon

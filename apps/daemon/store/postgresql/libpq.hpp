#pragma once

#include <libpq-fe.h>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// The functions of libpq that a store calls. The library is loaded when the first store in a database is
/// opened: programs start without it, and machines without it use stores in files.
struct LibPq {
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
  decltype(&::PQexecPrepared) execute_prepared = nullptr;
  decltype(&::PQresultStatus) result_status = nullptr;
  decltype(&::PQresultErrorField) result_field = nullptr;
  decltype(&::PQclear) clear = nullptr;
  decltype(&::PQntuples) rows = nullptr;
  decltype(&::PQgetisnull) is_null = nullptr;
  decltype(&::PQgetlength) length = nullptr;
  decltype(&::PQgetvalue) value = nullptr;
};

/// Loads a library. unavailable: it is missing, or lacks a function; the message has the remedy.
[[nodiscard]] engine::Result<LibPq> load_libpq(const char* file);

/// The library, loaded once and then kept. unavailable: as load_libpq().
[[nodiscard]] engine::Result<const LibPq*> libpq();

}  // namespace hpsearch::daemon

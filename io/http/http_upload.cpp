#include <unistd.h>

#include "hpsearch/io/http/http.hpp"

namespace hpsearch::net {

UploadedFile::UploadedFile(std::string path, std::uint64_t bytes,
                           std::shared_ptr<std::atomic<std::uint64_t>> of_all)
    : path_(std::move(path)), bytes_(bytes), of_all_(std::move(of_all)) {
  *of_all_ += bytes_;
}

UploadedFile::~UploadedFile() {
  *of_all_ -= bytes_;
  ::unlink(path_.c_str());
}

}  // namespace hpsearch::net

#ifndef BEIGE_HTTP_REQUEST_READER_H_
#define BEIGE_HTTP_REQUEST_READER_H_

#include <cstddef>
#include <memory>
#include <string>

#include "http/http_server.h"

namespace beige::http {

// Bytes of one connection in, whole requests out, one after the other; bounded by Limits. Boost.Beast's parser lives in this class's
// .cpp and nowhere else. Not thread-safe.
class RequestReader {
 public:
  explicit RequestReader(const Limits& limits);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  struct Space {
    char* data;
    size_t size;
  };
  Space Prepare(size_t bytes);  // where to read to; valid until the next call
  void Commit(size_t bytes);    // so many were read
  size_t buffered() const;      // not parsed yet
  void Discard();               // what is buffered, and the buffer

  enum class Step { kNeedMore, kDone, kRefused };
  // Goes as far as the buffered bytes allow. After kDone comes Take(); after kRefused nothing: what follows can't be trusted.
  Step Parse();
  bool started() const;  // bytes of the request that is being read have come
  bool TakeContinue();   // true once when the client waits for "100 Continue"

  struct Refusal {
    int status = 400;
    std::string message;
  };
  const Refusal& refusal() const;

  struct Taken {
    Request request;  // remote is left to the caller
    bool keep_alive = false;
    bool http10 = false;
    bool head_only = false;
  };
  Taken Take();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace beige::http

#endif

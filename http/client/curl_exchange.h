#ifndef BEIGE_HTTP_CLIENT_CURL_EXCHANGE_H_
#define BEIGE_HTTP_CLIENT_CURL_EXCHANGE_H_

#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "http/client/curl_loop.h"

namespace beige::http::client {

// A curl multi handle whose descriptors are CLOEXEC.
CURLM* OpenMulti();
void CloseMulti(CURLM* multi);

// One easy handle, set up for its Transfer; lives and dies on the loop's thread.
class Exchange {
 public:
  Exchange(CurlLoop::Id id, Transfer transfer);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  CURL* easy() const { return easy_; }
  static CurlLoop::Id IdOf(CURL* easy);
  void Finish(CURLcode code);  // calls on_done

 private:
  static size_t OnHeader(char* data, size_t size, size_t count, void* self);
  static size_t OnData(char* data, size_t size, size_t count, void* self);
  static size_t OnRead(char* into, size_t size, size_t count, void* self);
  static int OnSeek(void* self, curl_off_t offset, int origin);
  void SetPeer();
  void SetBody();
  void SetDeadlines();

  const CurlLoop::Id id_;
  Transfer transfer_;
  CURL* easy_ = nullptr;
  curl_slist* headers_ = nullptr;
  char error_[CURL_ERROR_SIZE] = {};
  Outcome outcome_;
  size_t header_bytes_ = 0;
  bool headers_done_ = false;
  bool stopped_ = false;
};

}  // namespace beige::http::client

#endif

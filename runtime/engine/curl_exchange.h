#ifndef BEIGE_RUNTIME_ENGINE_CURL_EXCHANGE_H_
#define BEIGE_RUNTIME_ENGINE_CURL_EXCHANGE_H_

#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "runtime/engine/curl_loop.h"

namespace beige::runtime::engine {

// A curl multi handle whose descriptors are CLOEXEC.
CURLM* OpenMulti();
void CloseMulti(CURLM* multi);

// One easy handle, set up for its Transfer; lives and dies on the loop's thread.
class Exchange {
 public:
  explicit Exchange(Transfer transfer);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  CURL* easy() const { return easy_; }
  void Finish(CURLcode code);  // calls on_done

 private:
  static size_t OnHeader(char* data, size_t size, size_t count, void* self);
  static size_t OnData(char* data, size_t size, size_t count, void* self);
  static size_t OnRead(char* into, size_t size, size_t count, void* self);
  static int OnSeek(void* self, curl_off_t offset, int origin);
  void SetBody();
  void SetDeadlines();

  Transfer transfer_;
  CURL* easy_ = nullptr;
  curl_slist* headers_ = nullptr;
  char error_[CURL_ERROR_SIZE] = {};
  std::string url_;
  Outcome outcome_;
  bool headers_done_ = false;
  bool stopped_ = false;
};

}  // namespace beige::runtime::engine

#endif

#include "http/client/curl_exchange.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "base/files.h"
#include "http/client/trust.h"

namespace beige::http::client {

namespace {

constexpr size_t kMaxHeaderBytes = 32u << 10;

// Number and what it is: numbers are used again, and reading the directory takes one itself.
std::set<std::pair<int, std::string>> OpenDescriptors() {
  std::set<std::pair<int, std::string>> out;
  for (const std::string& name : ListDir("/proc/self/fd").value_or(std::vector<std::string>())) {
    char target[64];
    const ssize_t n = readlink(("/proc/self/fd/" + name).c_str(), target, sizeof target);
    int fd = -1;
    std::from_chars(name.data(), name.data() + name.size(), fd);
    if (n > 0) out.insert({fd, std::string(target, static_cast<size_t>(n))});
  }
  return out;
}

curl_socket_t OpenCloexec(void*, curlsocktype, curl_sockaddr* address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == '\r' || text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return text;
}

Ended EndedBy(CURLcode code) {
  switch (code) {
    case CURLE_OK: return Ended::kComplete;
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST: return Ended::kNoConnection;
    case CURLE_OPERATION_TIMEDOUT: return Ended::kTimeout;
    case CURLE_ABORTED_BY_CALLBACK: return Ended::kStopped;
    default: return Ended::kBroken;
  }
}

}  // namespace

// The library's wakeup pair is made without CLOEXEC; everything that appears meanwhile has to be CLOEXEC anyway.
CURLM* OpenMulti() {
  curl_global_init(CURL_GLOBAL_DEFAULT);  // counted and thread-safe
  const auto before = OpenDescriptors();
  CURLM* multi = curl_multi_init();
  for (const auto& [fd, target] : OpenDescriptors()) {
    if (before.contains({fd, target})) continue;
    if (const int flags = fcntl(fd, F_GETFD); flags >= 0) fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
  }
  return multi;
}

void CloseMulti(CURLM* multi) {
  curl_multi_cleanup(multi);
  curl_global_cleanup();
}

Exchange::Exchange(CurlLoop::Id id, Transfer transfer) : id_(id), transfer_(std::move(transfer)), easy_(curl_easy_init()) {
  curl_easy_setopt(easy_, CURLOPT_PRIVATE, this);
  curl_easy_setopt(easy_, CURLOPT_URL, transfer_.url.c_str());
  curl_easy_setopt(easy_, CURLOPT_FOLLOWLOCATION, 0L);  // a redirect would carry the headers, and with them a key, elsewhere
  curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy_, CURLOPT_QUICK_EXIT, 1L);  // a name server that never answers must not hold the loop
  curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy_, CURLOPT_OPENSOCKETFUNCTION, OpenCloexec);
  curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, error_);
  curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, OnHeader);
  curl_easy_setopt(easy_, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, OnData);
  curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
  if (transfer_.read_buffer > 0) curl_easy_setopt(easy_, CURLOPT_BUFFERSIZE, transfer_.read_buffer);
  SetPeer();
  SetBody();
  SetDeadlines();
}

CurlLoop::Id Exchange::IdOf(CURL* easy) {
  char* self = nullptr;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &self);
  return self == nullptr ? 0 : reinterpret_cast<Exchange*>(self)->id_;
}

void Exchange::SetPeer() {
  const bool tls = transfer_.url.starts_with("https://");
  if (!transfer_.socket.empty()) curl_easy_setopt(easy_, CURLOPT_UNIX_SOCKET_PATH, transfer_.socket.c_str());
  curl_easy_setopt(easy_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // a proxy's answer is not the peer's
  if (!tls || !transfer_.environment_proxy) curl_easy_setopt(easy_, CURLOPT_PROXY, "");
  curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, tls ? "https" : "http");
  if (!tls) return;
  curl_easy_setopt(easy_, CURLOPT_CAINFO, nullptr);  // only what `trust` says counts
  curl_easy_setopt(easy_, CURLOPT_CAPATH, nullptr);
  curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYHOST, 2L);
  curl_easy_setopt(easy_, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(easy_, CURLOPT_SSL_CTX_FUNCTION, Trust::Install);
  curl_easy_setopt(easy_, CURLOPT_SSL_CTX_DATA, const_cast<Trust*>(transfer_.trust.get()));
}

void Exchange::SetBody() {
  headers_ = curl_slist_append(headers_, "Expect:");
  // Without a value: no form type, which the library would add to a POST.
  const std::string type = transfer_.content_type.empty() ? "Content-Type:" : "Content-Type: " + transfer_.content_type;
  headers_ = curl_slist_append(headers_, type.c_str());
  if (transfer_.upload) {
    curl_easy_setopt(easy_, CURLOPT_POST, 1L);
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(transfer_.upload_size));
    curl_easy_setopt(easy_, CURLOPT_READFUNCTION, OnRead);
    curl_easy_setopt(easy_, CURLOPT_READDATA, this);
    curl_easy_setopt(easy_, CURLOPT_SEEKFUNCTION, OnSeek);
    curl_easy_setopt(easy_, CURLOPT_SEEKDATA, this);
    curl_easy_setopt(easy_, CURLOPT_UPLOAD_BUFFERSIZE, 256L * 1024);
  } else if (transfer_.method == "POST") {
    curl_easy_setopt(easy_, CURLOPT_POST, 1L);
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(transfer_.body.size()));
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, transfer_.body.c_str());
  } else if (transfer_.method != "GET") {
    curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, transfer_.method.c_str());
  }
  for (const auto& [name, value] : transfer_.headers) headers_ = curl_slist_append(headers_, Secret(name + ": " + value.Reveal()).Reveal().c_str());
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
}

void Exchange::SetDeadlines() {
  if (transfer_.connect.count() > 0) curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(transfer_.connect.count()));
  if (transfer_.deadline.count() > 0) curl_easy_setopt(easy_, CURLOPT_TIMEOUT_MS, static_cast<long>(transfer_.deadline.count()));
  // The library's own limit of 300 s for a connect stands where there is no deadline; a Unix socket answers at once.
  if (transfer_.idle.count() > 0) {
    curl_easy_setopt(easy_, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(easy_, CURLOPT_LOW_SPEED_TIME, std::max(1L, static_cast<long>(transfer_.idle.count() / 1000)));
  }
}

Exchange::~Exchange() {
  curl_easy_cleanup(easy_);
  for (curl_slist* item = headers_; item != nullptr; item = item->next) OPENSSL_cleanse(item->data, std::strlen(item->data));
  curl_slist_free_all(headers_);
}

void Exchange::Finish(CURLcode code) {
  outcome_.ended = stopped_ ? Ended::kStopped : EndedBy(code);
  curl_off_t ready_us = 0;
  outcome_.connected = curl_easy_getinfo(easy_, CURLINFO_PRETRANSFER_TIME_T, &ready_us) == CURLE_OK && ready_us > 0;
  if (code != CURLE_OK) {
    outcome_.why = error_[0] != '\0' ? error_ : curl_easy_strerror(code);
    long os_error = 0;
    curl_easy_getinfo(easy_, CURLINFO_OS_ERRNO, &os_error);
    if (outcome_.ended == Ended::kNoConnection && os_error != 0) outcome_.why = std::strerror(static_cast<int>(os_error));
  }
  transfer_.on_done(outcome_);
}

size_t Exchange::OnHeader(char* data, size_t size, size_t count, void* self) {
  auto& exchange = *static_cast<Exchange*>(self);
  Outcome& outcome = exchange.outcome_;
  const std::string_view line = Trim(std::string_view(data, size * count));
  if (line.empty()) {
    long status = 0;
    curl_easy_getinfo(exchange.easy_, CURLINFO_RESPONSE_CODE, &status);
    outcome.status = static_cast<int>(status);
    if (status >= 200 && !exchange.headers_done_) {
      exchange.headers_done_ = true;
      if (exchange.transfer_.on_headers) exchange.transfer_.on_headers(outcome);
    }
    return size * count;
  }
  if (line.starts_with("HTTP/")) outcome.headers.clear();  // those before were of an interim answer
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size * count;
  exchange.header_bytes_ += line.size();
  if (exchange.header_bytes_ > kMaxHeaderBytes) return size * count;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  outcome.headers.emplace_back(std::move(name), Trim(line.substr(colon + 1)));
  return size * count;
}

size_t Exchange::OnData(char* data, size_t size, size_t count, void* self) {
  auto& exchange = *static_cast<Exchange*>(self);
  const size_t n = size * count;
  if (!exchange.transfer_.on_data) return n;
  switch (exchange.transfer_.on_data(std::string_view(data, n))) {
    case Flow::kMore: return n;
    case Flow::kPause: return CURL_WRITEFUNC_PAUSE;
    case Flow::kStop: break;
  }
  exchange.stopped_ = true;
  return n + 1;  // any other number than n ends the exchange
}

size_t Exchange::OnRead(char* into, size_t size, size_t count, void* self) {
  auto& exchange = *static_cast<Exchange*>(self);
  for (;;) {
    const ssize_t n = read(exchange.transfer_.upload.get(), into, size * count);
    if (n >= 0) return static_cast<size_t>(n);
    if (errno != EINTR) return CURL_READFUNC_ABORT;
  }
}

int Exchange::OnSeek(void* self, curl_off_t offset, int origin) {
  auto& exchange = *static_cast<Exchange*>(self);
  return lseek(exchange.transfer_.upload.get(), offset, origin) < 0 ? CURL_SEEKFUNC_FAIL : CURL_SEEKFUNC_OK;
}

}  // namespace beige::http::client

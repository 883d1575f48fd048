#include "cli/rest.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <exception>
#include <thread>

#include "base/guarded.h"
#include "base/unique_fd.h"

// cpprest's macro U breaks other libraries' templates: it is switched off, and the header comes last.
#define _TURN_OFF_PLATFORM_STRING
#include <cpprest/http_client.h>
#include <pplx/threadpool.h>

namespace beige::cli {
namespace {
void StartPool() {
  try {
    // The library's own pool would have 40 threads.
    crossplat::threadpool::initialize_with_threads(1);
  } catch (const std::exception&) {
    // Already made by an earlier call: fine.
  }
}

web::http::http_request ToRequest(const HttpRequest& from) {
  web::http::http_request request(from.method);
  request.set_request_uri(from.path);
  if (!from.token.empty()) request.headers().add("Authorization", "Bearer " + from.token);
  if (!from.body.empty()) request.set_body(from.body, "application/json");
  return request;
}
}  // namespace

Result<HttpAnswer> Get(const std::string& address, const std::string& path, const std::string& token, std::chrono::milliseconds timeout) {
  const std::string base = "http://" + address;
  StartPool();
  try {
    web::http::client::http_client_config config;
    config.set_timeout(timeout);
    web::http::client::http_client client(base, config);
    const auto response = client.request(ToRequest({"GET", path, token, "", timeout})).get();
    return HttpAnswer{static_cast<int>(response.status_code()), response.extract_utf8string(true).get()};
  } catch (const std::exception& e) {
    return Fail(Code::kUnavailable, "GET " + base + path + ": " + e.what());
  }
}

struct HttpStream::Impl {
  Guarded<Piece> piece;
  UniqueFd wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  pplx::cancellation_token_source cancel;
  std::thread thread;

  template <typename F>
  void Tell(F&& change) {
    piece.With(std::forward<F>(change));
    const uint64_t one = 1;
    static_cast<void>(::write(wake.get(), &one, sizeof one) > 0);
  }

  void Run(const std::string& base, const HttpRequest& from) {
    try {
      web::http::client::http_client_config config;
      config.set_timeout(from.timeout);
      web::http::client::http_client client(base, config);
      const auto response = client.request(ToRequest(from), cancel.get_token()).get();
      Tell([&](Piece& p) { p.status = static_cast<int>(response.status_code()); });
      auto body = response.body().streambuf();
      for (;;) {
        // Waits for one byte; what else is there comes with it.
        const auto first = body.bumpc().get();
        if (first == decltype(body)::traits::eof()) break;
        std::string bytes(1 + body.in_avail(), static_cast<char>(first));
        if (bytes.size() > 1) bytes.resize(1 + body.getn(reinterpret_cast<uint8_t*>(bytes.data()) + 1, bytes.size() - 1).get());
        Tell([&](Piece& p) { p.bytes += bytes; });
      }
      Tell([](Piece& p) { p.ended = true; });
    } catch (const std::exception& e) {
      Tell([&](Piece& p) {
        p.ended = true;
        p.error = e.what();
        if (p.error.empty()) p.error = "the connection broke";
      });
    }
  }
};

HttpStream::HttpStream(const std::string& address, const HttpRequest& request) : impl_(std::make_unique<Impl>()) {
  StartPool();
  impl_->thread = std::thread([impl = impl_.get(), base = "http://" + address, request] { impl->Run(base, request); });
}

HttpStream::~HttpStream() {
  impl_->cancel.cancel();
  impl_->thread.join();
}

int HttpStream::fd() const { return impl_->wake.get(); }

HttpStream::Piece HttpStream::Take() {
  uint64_t count = 0;
  static_cast<void>(::read(impl_->wake.get(), &count, sizeof count) > 0);
  return impl_->piece.With([](Piece& piece) {
    Piece taken = piece;
    piece.bytes.clear();
    return taken;
  });
}

}  // namespace beige::cli

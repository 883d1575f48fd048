#include "cli/rest.h"

#include <exception>

// cpprest's macro U breaks other libraries' templates: it is switched off, and the header comes last.
#define _TURN_OFF_PLATFORM_STRING
#include <cpprest/http_client.h>
#include <pplx/threadpool.h>

namespace beige::cli {

Result<HttpAnswer> Get(const std::string& address, const std::string& path, const std::string& token, std::chrono::milliseconds timeout) {
  const std::string base = "http://" + address;
  try {
    // The library's own pool would have 40 threads.
    crossplat::threadpool::initialize_with_threads(1);
  } catch (const std::exception&) {
    // Already made by an earlier call: fine.
  }
  try {
    web::http::client::http_client_config config;
    config.set_timeout(timeout);
    web::http::client::http_client client(base, config);
    web::http::http_request request(web::http::methods::GET);
    request.set_request_uri(path);
    if (!token.empty()) request.headers().add("Authorization", "Bearer " + token);
    const auto response = client.request(request).get();
    return HttpAnswer{static_cast<int>(response.status_code()), response.extract_utf8string(true).get()};
  } catch (const std::exception& e) {
    return Fail(Code::kUnavailable, "GET " + base + path + ": " + e.what());
  }
}

}  // namespace beige::cli

#include "http/request_reader.h"

#include <utility>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <algorithm>
#include <limits>
#include <optional>

namespace beige::http {
namespace beast = boost::beast;
namespace bhttp = boost::beast::http;
using boost::system::error_code;

namespace {
constexpr size_t kLastChunk = 5;  // "0\r\n\r\n"
constexpr size_t kUnparsedBytes = 16 << 10;  // beyond a header's limit: one read

std::string LowerCase(beast::string_view name) {
  std::string out(name);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}
using Parser = bhttp::request_parser<bhttp::string_body>;

Request HeadOf(const Parser::value_type& message) {
  Request request;
  request.method = std::string(message.method_string());
  const std::string_view target(message.target().data(), message.target().size());
  const size_t question = target.find('?');
  request.path = std::string(target.substr(0, question));
  if (question != std::string_view::npos) request.query = std::string(target.substr(question + 1));
  for (const auto& field : message) request.headers.emplace_back(LowerCase(field.name_string()), std::string(field.value()));
  return request;
}
}  // namespace

struct RequestReader::Impl {
  explicit Impl(const Limits& l) : limits(l) {}

  Step Refuse(int status, std::string message) {
    refusal = {status, std::move(message)};
    return Step::kRefused;
  }
  Step TooLarge() { return Refuse(413, "the body is larger than the limit of " + std::to_string(body_limit) + " bytes"); }
  void Begin();
  Step Header();
  Step RefuseParse(const error_code& ec);

  const Limits limits;
  beast::flat_buffer in;
  std::optional<Parser> parser;
  bool header_checked = false;
  size_t body_limit = 0;
  bool expects_continue = false;
  bool started = false;
  Refusal refusal;
};

RequestReader::RequestReader(const Limits& limits) : impl_(std::make_unique<Impl>(limits)) {}
RequestReader::~RequestReader() = default;

RequestReader::Space RequestReader::Prepare(size_t bytes) {
  const auto space = impl_->in.prepare(bytes);
  return {static_cast<char*>(space.data()), space.size()};
}

void RequestReader::Commit(size_t bytes) { impl_->in.commit(bytes); }
size_t RequestReader::buffered() const { return impl_->in.size(); }
void RequestReader::Discard() {
  impl_->in.clear();
  impl_->in.shrink_to_fit();
}
bool RequestReader::started() const { return impl_->started || impl_->in.size() > 0; }
bool RequestReader::TakeContinue() { return std::exchange(impl_->expects_continue, false); }
const RequestReader::Refusal& RequestReader::refusal() const { return impl_->refusal; }

void RequestReader::Impl::Begin() {
  parser.emplace();
  parser->header_limit(static_cast<std::uint32_t>(limits.header_bytes));
  parser->body_limit(std::numeric_limits<std::uint64_t>::max());  // Header() knows better
  parser->eager(false);  // stops after the header, so that it is judged before a body is taken
  header_checked = false;
  expects_continue = false;
  started = false;
}

RequestReader::Step RequestReader::Parse() {
  Impl& r = *impl_;
  if (!r.parser) r.Begin();
  while (r.in.size() > 0) {
    r.started = true;
    // A chunked body's end is five bytes that go at once, so with fewer it is not over; the parser asserts that it sees no less of it.
    if (r.header_checked && r.parser->chunked() && r.in.size() < kLastChunk) break;
    error_code ec;
    const size_t used = r.parser->put(r.in.data(), ec);
    r.in.consume(used);
    if (ec && ec != bhttp::error::need_more) return r.RefuseParse(ec);
    if (!r.header_checked && r.parser->is_header_done()) {
      if (r.Header() == Step::kRefused) return Step::kRefused;
      r.header_checked = true;
      r.parser->eager(true);
    }
    if (r.parser->is_done()) return Step::kDone;
    if (ec == bhttp::error::need_more || used == 0) break;
  }
  // A chunk extension or trailer that never ends leaves unparsed bytes behind; they are bounded as a header is.
  if (r.in.size() >= r.limits.header_bytes + kUnparsedBytes) return r.Refuse(431, "a header or chunk line is too long");
  return Step::kNeedMore;
}

RequestReader::Step RequestReader::Impl::Header() {
  const auto& message = parser->get();
  const auto target = message.target();
  if (target.empty() || (target.front() != '/' && !(target == "*" && message.method() == bhttp::verb::options))) {
    return Refuse(400, "the request's target must be a path that starts with /");
  }
  const size_t hosts = message.count(bhttp::field::host);
  if (hosts > 1 || (hosts == 0 && message.version() >= 11)) return Refuse(400, "want exactly one Host header");
  if (const size_t n = message.count(bhttp::field::transfer_encoding); n > 0) {
    if (message.version() < 11) return Refuse(400, "HTTP/1.0 has no Transfer-Encoding");
    if (n > 1 || !beast::iequals(message[bhttp::field::transfer_encoding], "chunked")) return Refuse(501, "the only Transfer-Encoding known here is chunked");
    if (message.count(bhttp::field::content_length) > 0) return Refuse(400, "Content-Length and Transfer-Encoding exclude each other");
  }
  if (message.count(bhttp::field::content_length) > 1) return Refuse(400, "want at most one Content-Length header");
  body_limit = limits.body_limit ? limits.body_limit(HeadOf(message)) : limits.body_bytes;
  if (const auto length = parser->content_length(); length && *length > body_limit) return TooLarge();
  parser->body_limit(body_limit);  // of a chunked one
  if (const auto expect = message[bhttp::field::expect]; !expect.empty()) {
    if (!beast::iequals(expect, "100-continue")) return Refuse(417, "the only expectation known here is 100-continue");
    expects_continue = message.version() >= 11 && !parser->is_done() && in.size() == 0;
  }
  return Step::kNeedMore;
}

RequestReader::Step RequestReader::Impl::RefuseParse(const error_code& ec) {
  if (ec == bhttp::error::body_limit) return TooLarge();
  if (ec == bhttp::error::header_limit || ec == bhttp::error::buffer_overflow) {
    return Refuse(431, "the headers are larger than the limit of " + std::to_string(limits.header_bytes) + " bytes");
  }
  return Refuse(400, "malformed request: " + ec.message());
}

RequestReader::Taken RequestReader::Take() {
  auto message = impl_->parser->release();
  impl_->parser.reset();
  impl_->started = false;
  Taken taken;
  taken.keep_alive = message.keep_alive();
  taken.http10 = message.version() < 11;
  taken.head_only = message.method() == bhttp::verb::head;
  taken.request = HeadOf(message);
  taken.request.body = std::move(message.body());
  return taken;
}

}  // namespace beige::http

// bench-model: a model provider that speaks OpenAI chat completions, as cheap as one can be: one thread, no JSON library. Prints its port.
// Models: instant; tool (one exec, then done); tokensN (N at once); pacedMS-N (N tokens, one each MS ms, each the nanoseconds of its sending).
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <queue>
#include <string>

namespace {
int64_t Now() { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Connection {
  int fd = -1;
  std::string in;
  int64_t left = 0;      // tokens of a paced answer
  int64_t period = 0;
};

std::string Chunk(const std::string& data) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", data.size());
  return size + data + "\r\n";
}

std::string Event(const std::string& delta, const char* finish = "null") {
  return "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"bench\",\"choices\":[{\"index\":0,\"delta\":{" + delta +
         "},\"finish_reason\":" + finish + "}]}\n\n";
}
std::string Token(const std::string& text) { return Event("\"content\":\"" + text + "\""); }
std::string End(const char* why) {
  return Event("", why) + "data: {\"id\":\"c1\",\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5,\"total_tokens\":15}}\n\ndata: [DONE]\n\n";
}

void Send(int fd, const std::string& bytes) {
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = ::send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return;  // blocking sockets: the peer has gone
    sent += static_cast<size_t>(n);
  }
}

constexpr char kHead[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
constexpr char kLast[] = "0\r\n\r\n";

using Due = std::pair<int64_t, int>;  // when, which descriptor

void Answer(Connection& c, const std::string& body, std::priority_queue<Due, std::vector<Due>, std::greater<>>& due) {
  const size_t at = body.find("\"model\":\"");
  const std::string model = at == std::string::npos ? "" : body.substr(at + 9, body.find('"', at + 9) - at - 9);
  if (model.starts_with("paced")) {
    c.period = std::atoll(model.c_str() + 5) * 1'000'000;
    c.left = std::atoll(model.c_str() + model.find('-') + 1);
    Send(c.fd, kHead);
    // Not all in one tick: real streams don't march in step.
    due.push({Now() + c.period + (c.fd * 7919) % c.period, c.fd});
    return;
  }
  const size_t result = body.rfind("\"role\":\"tool\"");
  const bool told = result != std::string::npos && result > body.rfind("\"role\":\"user\"");
  std::string events;
  if (model.starts_with("tokens")) {
    const int count = std::atoi(model.c_str() + 6);
    for (int i = 0; i < count; ++i) events += Token("tok" + std::to_string(i) + " ");
    events += End("\"stop\"");
  } else if (model == "tool" && !told) {
    events = Event(R"("tool_calls":[{"index":0,"id":"call_x","type":"function","function":{"name":"exec","arguments":"{\"command\":\"true\"}"}}])") + End("\"tool_calls\"");
  } else {
    events = Token("ok") + End("\"stop\"");
  }
  Send(c.fd, kHead + Chunk(events) + kLast);
}
}  // namespace

int main() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener, 1024) != 0) return 1;
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  const auto watch = [&](int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    ::epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
  };
  watch(listener);
  watch(0);  // its end is ours
  std::map<int, std::unique_ptr<Connection>> connections;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due;
  char buffer[65536];
  for (;;) {
    int wait = -1;
    if (!due.empty()) wait = static_cast<int>(std::max<int64_t>(0, (due.top().first - Now() + 999'999) / 1'000'000));
    epoll_event events[256];
    const int n = ::epoll_wait(poll, events, 256, wait);
    for (int i = 0; i < n; ++i) {
      const int fd = events[i].data.fd;
      if (fd == 0) return 0;
      if (fd == listener) {
        const int accepted = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        const int one = 1;
        ::setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        connections[accepted] = std::make_unique<Connection>();
        connections[accepted]->fd = accepted;
        watch(accepted);
        continue;
      }
      Connection& c = *connections[fd];
      const ssize_t got = ::read(fd, buffer, sizeof buffer);
      if (got <= 0) {
        connections.erase(fd);
        ::close(fd);
        continue;
      }
      c.in.append(buffer, static_cast<size_t>(got));
      const size_t head = c.in.find("\r\n\r\n");
      if (head == std::string::npos) continue;
      std::string lower = c.in.substr(0, head);
      std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char x) { return static_cast<char>(std::tolower(x)); });
      const size_t length_at = lower.find("content-length: ");
      const size_t length = length_at == std::string::npos ? 0 : std::strtoul(lower.c_str() + length_at + 16, nullptr, 10);
      if (c.in.size() < head + 4 + length) continue;
      const std::string body = c.in.substr(head + 4, length);
      c.in.erase(0, head + 4 + length);
      Answer(c, body, due);
    }
    const int64_t now = Now();
    while (!due.empty() && due.top().first <= now) {
      const auto [at, fd] = due.top();
      due.pop();
      const auto found = connections.find(fd);
      if (found == connections.end() || found->second->left == 0) continue;
      Connection& c = *found->second;
      --c.left;
      Send(fd, Chunk(Token(std::to_string(Now()))));
      if (c.left == 0) Send(fd, Chunk(End("\"stop\"")) + kLast);
      if (c.left > 0) due.push({at + c.period, fd});
    }
  }
}

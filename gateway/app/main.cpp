#include <cstdio>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/log.h"
#include "gateway/app/gateway_app.h"

namespace {
int Usage(const char* why) {
  std::fprintf(stderr, "beige-gateway: %s; usage: beige-gateway --home DIR\n", why);
  return 2;
}
}  // namespace

int main(int argc, char** argv) {
  std::string home;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--version") {
      std::puts("beige-gateway " BEIGE_VERSION);
      return 0;
    }
    if (argument == "--home" && i + 1 < argc) {
      home = argv[++i];
    } else if (argument.starts_with("--home=")) {
      home = argument.substr(7);
    } else {
      return Usage(("unknown argument " + std::string(argument)).c_str());
    }
  }
  if (home.empty()) return Usage("want the home's directory");
  beige::InitLog("gateway", beige::LogLevel::kInfo);
  return beige::RunGateway(beige::AbsolutePath(".", home));
}

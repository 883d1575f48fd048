#include <cstdio>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/log.h"
#include "gateway/app/cell_check.h"
#include "gateway/app/gateway_app.h"

namespace {
int Usage(const char* why) {
  std::fprintf(stderr, "beige-gateway: %s; usage: beige-gateway --home DIR\n", why);
  return 2;
}
}  // namespace

int main(int argc, char** argv) {
  std::string home;
  bool check_cell = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--version") {
      std::puts("beige-gateway " BEIGE_VERSION);
      return 0;
    }
    if (argument == "--check-cell") {
      check_cell = true;
    } else if (argument == "--home" && i + 1 < argc) {
      home = argv[++i];
    } else if (argument.starts_with("--home=")) {
      home = argument.substr(7);
    } else {
      return Usage(("unknown argument " + std::string(argument)).c_str());
    }
  }
  if (home.empty()) return Usage("want the home's directory");
  beige::InitLog("gateway", beige::LogLevel::kInfo);
  home = beige::AbsolutePath(".", home);
  if (!check_cell) return beige::RunGateway(home);
  const beige::Result<> made = beige::CheckCell(beige::HomePaths(home));
  std::puts(made ? "a cell was made" : made.error().message.c_str());
  return made ? 0 : 1;
}

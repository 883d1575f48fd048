#include "gateway/app/cell_check.h"

#include <unistd.h>

#include <memory>

#include "base/clock.h"
#include "base/files.h"
#include "base/loop.h"
#include "base/socket_stream.h"
#include "gateway/tools/cell.h"
#include "gateway/tools/confinement.h"

namespace beige {
namespace {
constexpr std::chrono::seconds kCellCheckPatience{10};
}  // namespace

Result<> CheckCell(const HomePaths& paths) {
  const std::string scratch = paths.DataGateway() + "/.cell-check-" + std::to_string(::getpid());
  ToolManifest manifest;
  manifest.name = "doctor";
  manifest.description = "Nothing; it shows that a cell can be made";
  manifest.command = {"true"};
  manifest.folder = scratch + "/tool";
  BEIGE_TRY(MakeDirs(manifest.folder, 0700));
  Result<> result = Fail(Code::kTimeout, "a cell did not come up within " + FormatDuration(kCellCheckPatience));
  {
    Loop loop;
    WriteBatch batch;
    Reaper reaper(loop);
    const CellHost host{loop, batch, reaper, FindBubblewrap(), [] {
                          const std::string binary = ExecutableDir() + "/beige-sandbox";
                          return Exists(binary) ? binary : std::string();
                        }};
    Turns turns(loop);
    Party party(turns);
    std::unique_ptr<Cell> cell;
    const auto look = [&] {
      if (!cell || cell->state() == Cell::State::kStarting) return;
      if (cell->state() == Cell::State::kUp) result = {};
      if (cell->state() == Cell::State::kFailed) result = Fail(Code::kUnavailable, cell->reason());
      loop.Stop();
    };
    Timer patience(loop);
    patience.Start(kCellCheckPatience, [&] { loop.Stop(); });
    cell = std::make_unique<Cell>(host, party, AgentRef{"default", "doctor", "doctor"}, std::make_shared<const ToolManifest>(std::move(manifest)), scratch + "/data", "", look);
    loop.Post(look);  // it may have failed before there was anybody to tell
    loop.Run();
  }
  static_cast<void>(RemoveTree(scratch));
  return result;
}

}  // namespace beige

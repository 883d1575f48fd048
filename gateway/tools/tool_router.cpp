#include "gateway/tools/tool_router.h"

#include <algorithm>

namespace beige {
namespace {
constexpr std::chrono::seconds kSweep{1};
}

ToolRouter::ToolRouter(const CellHost& host, Party& party, const HomePaths& paths, AgentRef agent, std::function<void()> on_change)
    : host_(host), party_(party), paths_(paths), agent_(std::move(agent)), on_change_(std::move(on_change)), sweep_(host.loop) {}

ToolRouter::~ToolRouter() { *alive_ = false; }

void ToolRouter::Set(const std::vector<std::shared_ptr<const ToolManifest>>& tools) {
  decltype(cells_) next;
  std::vector<std::unique_ptr<Cell>> gone;
  for (const auto& tool : tools) {
    const auto it = cells_.find(tool->name);
    if (it != cells_.end() && (it->second->manifest() == tool || *it->second->manifest() == *tool)) {
      next[tool->name] = std::move(it->second);
      cells_.erase(it);
      continue;
    }
    if (it != cells_.end()) {
      if (it->second->jobs() > 0) {
        it->second->Retire();
        retiring_.push_back(std::move(it->second));
      } else {
        gone.push_back(std::move(it->second));
      }
      cells_.erase(it);
    }
    next[tool->name] = std::make_unique<Cell>(host_, party_, agent_, tool, paths_.ToolData(agent_.uid, tool->name),
                                              paths_.Workspace(agent_.key()), [this] { Changed(); });
  }
  // The map is whole before old cells go: what waits for them looks for its cell here again.
  std::swap(cells_, next);
  next.clear();
  gone.clear();
  if (!retiring_.empty()) {
    sweep_.StartEvery(kSweep, [this] {
      std::erase_if(retiring_, [](const auto& cell) { return cell->jobs() == 0; });
      if (retiring_.empty()) sweep_.Cancel();
    });
  }
}

Cell* ToolRouter::Find(std::string_view tool) const {
  const auto it = cells_.find(tool);
  return it == cells_.end() ? nullptr : it->second.get();
}

std::map<std::string, std::string> ToolRouter::Unavailable() const {
  std::map<std::string, std::string> out;
  for (const auto& [name, cell] : cells_) {
    if (cell->state() == Cell::State::kFailed) out[name] = cell->reason();
  }
  return out;
}

// Told once a turn, from the loop: cells change in the middle of other things.
void ToolRouter::Changed() {
  if (std::exchange(told_, true)) return;
  host_.loop.Post([this, alive = alive_] {
    if (!*alive) return;
    told_ = false;
    on_change_();
  });
}

}  // namespace beige

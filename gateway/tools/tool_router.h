#ifndef BEIGE_GATEWAY_TOOLS_TOOL_ROUTER_H_
#define BEIGE_GATEWAY_TOOLS_TOOL_ROUTER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/paths.h"
#include "gateway/tools/cell.h"

namespace beige {

// Where the tools of one agent run: a cell for each that is granted and known. Core thread only.
class ToolRouter {
 public:
  // `party` is the agent's; it outlives this. `on_change` runs from the loop when a tool became available or unavailable.
  ToolRouter(const CellHost& host, Party& party, const HomePaths& paths, AgentRef agent, std::function<void()> on_change);
  ~ToolRouter();

  // Exactly these: new ones get a cell, a changed manifest a new cell (calls that run in the old one finish there), the cell of one that is
  // no longer named goes at once and its calls end as lost.
  void Set(const std::vector<std::shared_ptr<const ToolManifest>>& tools);

  Cell* Find(std::string_view tool) const;  // nullptr = not among them
  std::map<std::string, std::string> Unavailable() const;  // tool -> why

 private:
  void Changed();

  const CellHost& host_;
  Party& party_;
  const HomePaths& paths_;
  const AgentRef agent_;
  const std::function<void()> on_change_;
  std::map<std::string, std::unique_ptr<Cell>, std::less<>> cells_;
  std::vector<std::unique_ptr<Cell>> retiring_;
  Timer sweep_;
  bool told_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace beige

#endif

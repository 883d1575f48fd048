#include "runtime/docker/networks.h"

#include <utility>

#include "runtime/engine/labels.h"
#include "runtime/engine/wire.h"

namespace beige::runtime::docker {

using engine::Call;

NetworkLease::NetworkLease(Networks& networks, std::string uid) : networks_(networks), uid_(std::move(uid)) {
  networks_.making_.With([&](auto& uids) { uids.insert(uid_); });
}

NetworkLease::~NetworkLease() {
  networks_.making_.With([&](auto& uids) { uids.erase(uids.find(uid_)); });
}

Result<bool> Networks::Ensure(const std::string& name, const SandboxKey& key) {
  const engine::Labels labels = engine::KeyLabels(key);
  BEIGE_ASSIGN(const engine::Response found,
               http_.Request(Call{.operation = "network_list", .path = "/networks?filters=" + engine::Escape(engine::LabelFilter(labels))}));
  BEIGE_ASSIGN(const auto mine, engine::DecodeNetworks(found.body));
  for (const engine::NetworkInfo& network : mine) {
    if (network.name == name) return false;
  }
  auto made = http_.Request(
      Call{.operation = "network_create", .method = "POST", .path = "/networks/create", .body = engine::EncodeBridge(name, labels)});
  if (!made) return FailIn("create network " + name, made.error());
  return true;
}

Result<> Networks::Delete(const std::string& id) {
  auto gone = http_.Request(Call{.operation = "network_remove", .method = "DELETE", .path = "/networks/" + engine::Escape(id)});
  if (gone || gone.error().code == Code::kNotFound) return {};
  // "has active endpoints": something is still on it
  const Code code = gone.error().code == Code::kDenied ? Code::kConflict : gone.error().code;
  return Fail(code, "remove network " + id.substr(0, 12) + ": " + gone.error().message);
}

Result<> Networks::Remove(const SandboxKey& key) {
  const engine::Labels owner{{engine::kHomeLabel, key.home}, {engine::kUidLabel, key.uid}};
  BEIGE_ASSIGN(const engine::Response found,
               http_.Request(Call{.operation = "network_list", .path = "/networks?filters=" + engine::Escape(engine::LabelFilter(owner))}));
  BEIGE_ASSIGN(const auto networks, engine::DecodeNetworks(found.body));
  for (const engine::NetworkInfo& network : networks) BEIGE_TRY(Delete(network.id));
  return {};
}

Result<> Networks::Prune(const std::string& home, const std::set<std::string>& uids) {
  const engine::Labels owner{{engine::kHomeLabel, home}};
  BEIGE_ASSIGN(const engine::Response found,
               http_.Request(Call{.operation = "network_list", .path = "/networks?filters=" + engine::Escape(engine::LabelFilter(owner))}));
  BEIGE_ASSIGN(const auto networks, engine::DecodeNetworks(found.body));
  for (const engine::NetworkInfo& network : networks) {
    const std::string uid = engine::KeyOf(network.labels).uid;
    const bool wanted = uid.empty() || uids.contains(uid) || making_.With([&](const auto& making) { return making.contains(uid); });
    if (!wanted) BEIGE_TRY(Delete(network.id));
  }
  return {};
}

}  // namespace beige::runtime::docker

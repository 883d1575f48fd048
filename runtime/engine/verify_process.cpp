#include <algorithm>
#include <cstdlib>

#include "runtime/engine/harden.h"
#include "runtime/engine/mismatch_list.h"
#include "runtime/engine/verify.h"

namespace beige::runtime::engine {

namespace {

std::string ShowIds(const std::vector<IdRange>& map, const std::vector<int64_t>& ids) {
  std::string out;
  for (const int64_t id : ids) {
    const std::string inside = std::to_string(InsideId(map, id));
    if (out.empty()) {
      out = inside;
    } else if (inside != out) {
      return "a mix of ids";
    }
  }
  return out.empty() ? "unknown" : out;
}

void CompareUser(const CreateRequest& want, const ProcessFacts& have, MismatchList& out) {
  const size_t colon = want.user.find(':');
  const std::string uid = want.user.substr(0, colon);
  const std::string gid = want.user.substr(colon + 1);
  out.Expect("uid of the process", uid, ShowIds(have.uid_map, have.status.uids));
  out.Expect("gid of the process", gid, ShowIds(have.gid_map, have.status.gids));
  if (std::find(have.status.uids.begin(), have.status.uids.end(), 0) != have.status.uids.end()) {
    out.Add("uid on the host", "not 0", "0");
  }
  for (const int64_t group : have.status.groups) {
    if (const std::string inside = std::to_string(InsideId(have.gid_map, group)); inside != gid) out.Add("supplementary group", "none", inside);
  }
}

// A quota is whole microseconds of a period: 333m of a core is 33300 of 100000.
bool IsNear(int64_t want, int64_t have) { return std::llabs(want - have) <= 10'000 + want / 1000; }

// The kernel rounds a memory limit down to whole pages.
bool SamePages(int64_t want, int64_t have) { return have >= 0 && have <= want && want - have < 65'536; }

void CompareCgroup(const CreateRequest& want, const CgroupFacts& have, MismatchList& out) {
  if (have.memory && !SamePages(want.memory, *have.memory)) out.Add("memory in the control group", Show(want.memory), Show(*have.memory));
  if (have.memory_swap && !SamePages(want.memory_swap, *have.memory_swap)) {
    out.Add("memory and swap in the control group", Show(want.memory_swap), Show(*have.memory_swap));
  }
  if (have.pids) out.Expect("pids limit in the control group", want.pids_limit, *have.pids);
  if (have.nano_cpus && !IsNear(want.nano_cpus, *have.nano_cpus)) {
    out.Add("cpu in the control group (nanocpus)", Show(want.nano_cpus), Show(*have.nano_cpus));
  }
}

}  // namespace

std::vector<Mismatch> CompareProcess(const CreateRequest& want, const ProcessFacts& have) {
  MismatchList out;
  CompareUser(want, have, out);
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    const auto it = have.status.capabilities.find(set);
    const std::string value = it == have.status.capabilities.end() ? "unknown" : it->second;
    if (value.empty() || value.find_first_not_of('0') != std::string::npos) out.Add(std::string("capabilities ") + set, "0", value);
  }
  out.Expect("no new privileges", std::string("1"), have.status.no_new_privileges);
  out.Expect("seccomp", std::string("2"), have.status.seccomp);
  out.Expect("core limit of the process", std::string("0"), have.core_limit);
  const long files = std::strtol(have.files_limit.c_str(), nullptr, 10);  // "unlimited" reads as 0
  if (files <= 0 || files > kMostFiles) out.Add("open files limit of the process", "at most " + Show(kMostFiles), have.files_limit);
  if (want.network_mode == "none") out.Expect("network interfaces", std::vector<std::string>{"lo"}, have.interfaces);
  out.ExpectNone("namespaces of the host", have.shared_namespaces);
  if (!have.status.pids.empty()) out.Expect("process id inside", int64_t{1}, have.status.pids.back());
  out.ExpectNone("device nodes", have.devices);
  CompareCgroup(want, have.cgroup, out);
  for (Mismatch& mismatch : CompareMounts(want, have)) out.Add(mismatch.field, mismatch.want, mismatch.have);
  return out.Take();
}

}  // namespace beige::runtime::engine

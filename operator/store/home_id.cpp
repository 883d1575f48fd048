#include "operator/store/home_id.h"

#include <sys/stat.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/random.h"

namespace beige {
using nlohmann::json;

Result<MachineFacts> ReadMachineFacts(const HomePaths& paths) {
  MachineFacts facts;
  if (auto text = ReadFile("/etc/machine-id", 4096)) facts.machine_id = text->substr(0, text->find('\n'));
  struct stat info {};
  if (::stat(paths.home().c_str(), &info) != 0) return FailErrno(errno, "home " + paths.home());
  facts.inode = info.st_ino;
  return facts;
}

Result<HomeId> LoadHomeId(const HomePaths& paths, const MachineFacts& facts, bool adopt) {
  const std::string file = paths.DataOperator() + "/home.json";
  BEIGE_ASSIGN(const std::optional<std::string> text, ReadFileIfExists(file));
  HomeId home;
  if (text) {
    const json stored = json::parse(*text, nullptr, false);
    if (!stored.is_object() || !stored.value("id", json()).is_string()) {
      return Fail(Code::kInvalid, file + ": not readable as a home's id; restore it from a backup, or remove it to start with a new id "
                                         "(running sandboxes of this home are then no longer ours)");
    }
    home.id = stored["id"].get<std::string>();
    const json machine = stored.value("machineId", json(""));
    const json inode = stored.value("inode", json(0));
    const bool same_machine = machine.is_string() && machine.get<std::string>() == facts.machine_id;
    const bool same_inode = inode.is_number_unsigned() && inode.get<uint64_t>() == facts.inode;
    if (same_machine && same_inode) return home;
    if (!adopt) {
      home.copied = true;
      home.why = std::string("this home is a copy or was moved (its id was made ") +
                 (same_machine ? "for another directory of this machine" : "on another machine") +
                 "); it adopts and starts nothing, since the original may still run; if the original is gone, run `beige adopt`";
      return home;
    }
  } else {
    home.id = RandomUuid();
  }
  const json fresh = {{"id", home.id}, {"machineId", facts.machine_id}, {"inode", facts.inode}};
  BEIGE_TRY(MakeDirs(paths.DataOperator(), 0700));
  BEIGE_TRY(WriteFileAtomic(file, fresh.dump() + "\n", 0600));
  return home;
}

}  // namespace beige

// What an engine, the kernel's /proc and the operator's or gateway's admin socket say: any text is read or refused.
#include "api/admin.h"
#include "runtime/engine/labels.h"
#include "runtime/engine/log_frames.h"
#include "runtime/engine/process_facts.h"
#include "runtime/engine/progress.h"
#include "runtime/engine/wire.h"
#include "tests/fuzz/fuzz.h"

namespace {
using beige::fuzz::Hold;
using namespace beige;
using namespace beige::runtime::engine;

void Container(std::string_view text) {
  const auto container = DecodeContainer(text);
  if (!container) return;
  Hold(!container->id.empty(), "a container has an id");
  (void)ToObserved(*container);
  (void)SplitEnv(container->env);
}

void Lines(std::string_view text) {
  ProgressReader progress([](const std::string&) {});
  LineSplitter splitter(64);
  const auto on_line = [](std::string_view line) -> Result<> {
    Hold(!line.empty() && line.size() <= 64, "lines are bounded and not empty");
    (void)DecodeEvent(line);
    return {};
  };
  bool fed = true;
  for (size_t at = 0; at < text.size() && fed; at += 7) {
    fed = splitter.Feed(text.substr(at, 7), on_line).has_value();
    if (!progress.Feed(text.substr(at, 7))) break;
  }
  if (fed) (void)splitter.End(on_line);
  (void)progress.End();
}

void Proc(std::string_view text) {
  (void)ParseStatus(text);
  (void)ParseMountInfo(text);
  (void)InsideId(ParseIdMap(text), 1000);
  (void)ParseInterfaces(text);
  (void)ParseHardLimit(text, "Max core file size");
}

void Admin(std::string_view text) {
  if (const auto message = admin::DecodeToGateway(text)) {
    const auto again = admin::DecodeToGateway(admin::Encode(*message));
    Hold(again.has_value() && *again == *message, "a message to the gateway encodes to itself");
  }
  if (const auto message = admin::DecodeToOperator(text)) {
    const auto again = admin::DecodeToOperator(admin::Encode(*message));
    Hold(again.has_value() && *again == *message, "a message to the operator encodes to itself");
  }
  (void)admin::DecodeGrant(text);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 8) {
    case 0: Container(text); break;
    case 1: if (const auto image = DecodeImage(text)) (void)ToImage(*image); break;
    case 2: (void)DecodeNetworks(text), (void)DecodeIds(text), (void)DecodeId(text), (void)DecodeVersion(text); break;
    case 3: (void)DecodeStats(text); break;
    case 4: (void)DecodeEvent(text), Lines(text); break;
    case 5: Hold(JoinLogFrames(text).size() <= text.size(), "a log without its frames is not longer"); break;
    case 6: Proc(text); break;
    default: Admin(text);
  }
  return 0;
}

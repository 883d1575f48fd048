#include "runtime/fake/fake_runtime.h"
#include "tests/runtime/suite.h"

namespace beige::runtime {

namespace {

class FakeBackend : public Backend {
 public:
  FakeBackend() {
    for (const char* image : {kBusybox, kEmptyImage}) fake_.AddImage(image);
  }
  SandboxRuntime& runtime() override { return fake_; }
  void Kill(const std::string& id) override { fake_.Kill(id); }
  void Pause(const std::string& id) override { fake_.Pause(id); }
  void RemoveByHand(const std::string& id) override { fake_.RemoveByHand(id); }
  void RenameByHand(const std::string& id, const std::string& name) override { fake_.RenameByHand(id, name); }
  std::string AddForeign(const std::string& name, const std::map<std::string, std::string>& labels) override {
    return fake_.AddForeign(name, labels);
  }
  std::vector<std::string> Bridges(const std::string&) override { return fake_.Bridges(); }

 private:
  fake::FakeRuntime fake_;
};

std::unique_ptr<Backend> MakeFake() { return std::make_unique<FakeBackend>(); }

}  // namespace

INSTANTIATE_TEST_SUITE_P(Fake, RuntimeTest, ::testing::Values(BackendKind{"fake", MakeFake}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace beige::runtime

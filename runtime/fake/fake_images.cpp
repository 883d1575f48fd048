#include "base/files.h"
#include "base/random.h"
#include "runtime/fake/fake_runtime.h"

namespace beige::runtime::fake {

const engine::ImageInspect* FakeRuntime::ImageOf(const std::string& reference) const {
  for (const auto& [name, image] : state_.images) {
    if (name == reference || image.id == reference) return &image;
  }
  return nullptr;
}

Result<std::optional<Image>> FakeRuntime::FindImage(const std::string& reference) {
  std::lock_guard lock(mutex_);
  BEIGE_TRY(Enter(Operation::kFindImage));
  const engine::ImageInspect* image = ImageOf(reference);
  if (image == nullptr) return std::nullopt;
  return engine::ToImage(*image);
}

Result<> FakeRuntime::Bring(Operation operation, const std::string& from, const Progress& progress) {
  {
    std::lock_guard lock(mutex_);
    BEIGE_TRY(Enter(operation));
    const auto offer = state_.offers.find(from);
    if (offer == state_.offers.end()) return Fail(Code::kNotFound, from + ": no such image");
    if (ImageOf(offer->second) == nullptr) {
      engine::ImageInspect image;
      image.id = "sha256:" + Sha256Hex(offer->second);
      state_.images[offer->second] = image;
    }
  }
  if (progress) progress("Loaded image: " + from);
  return {};
}

Result<> FakeRuntime::LoadImage(const std::string& tar_path, const Progress& progress) {
  if (options_.check_mount_sources && !Exists(tar_path)) {
    return Fail(Code::kNotFound, "load image " + tar_path + ": open " + tar_path + ": No such file or directory");
  }
  auto done = Bring(Operation::kLoadImage, tar_path, progress);
  return done ? done : FailIn("load image " + tar_path, done.error());
}

Result<> FakeRuntime::PullImage(const std::string& reference, const Progress& progress) {
  auto done = Bring(Operation::kPullImage, reference, progress);
  return done ? done : FailIn("pull image " + reference, done.error());
}

Result<> FakeRuntime::BuildImage(const std::string&, const std::string& tag, const Progress& progress) {
  auto done = Bring(Operation::kBuildImage, tag, progress);
  return done ? done : FailIn("build image " + tag, done.error());
}

}  // namespace beige::runtime::fake

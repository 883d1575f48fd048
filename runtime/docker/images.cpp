#include <utility>

#include "runtime/docker/docker_impl.h"
#include "runtime/engine/progress.h"

namespace beige::runtime::docker {

using engine::Call;
using engine::Escape;
using engine::EscapePath;
using std::chrono::minutes;

namespace {

// Without a tag or digest the engine would pull every tag.
std::string WithTag(const std::string& reference) {
  const size_t slash = reference.rfind('/');
  const std::string last = slash == std::string::npos ? reference : reference.substr(slash + 1);
  return last.find(':') == std::string::npos && last.find('@') == std::string::npos ? reference + ":latest" : reference;
}

}  // namespace

Result<std::optional<engine::ImageInspect>> DockerRuntime::InspectImage(const std::string& reference) {
  if (reference.empty()) return Fail(Code::kInvalid, "image: want a reference, got an empty one");
  auto answer = http_.Request(
      Call{.operation = "image_inspect", .path = "/images/" + EscapePath(reference) + "/json", .deadline = options_.deadline});
  if (!answer && answer.error().code == Code::kNotFound) return std::nullopt;
  if (!answer) return FailIn("image " + reference, answer.error());
  BEIGE_ASSIGN(engine::ImageInspect image, engine::DecodeImage(answer->body));
  return image;
}

Result<std::optional<Image>> DockerRuntime::FindImage(const std::string& reference) {
  BEIGE_ASSIGN(const auto image, InspectImage(reference));
  if (!image) return std::nullopt;
  return engine::ToImage(*image);
}

Result<> DockerRuntime::Follow(const Call& call, const Progress& progress) {
  engine::ProgressReader reader(progress);
  BEIGE_TRY(http_.Stream(call, [&](std::string_view bytes) { return reader.Feed(bytes); }));
  return reader.End();
}

Result<> DockerRuntime::LoadImage(const std::string& tar_path, const Progress& progress) {
  const Call call{.operation = "image_load",
                  .method = "POST",
                  .path = "/images/load?quiet=0",
                  .upload = tar_path,
                  .deadline = minutes(20),
                  .idle = minutes(5)};
  if (auto done = Follow(call, progress); !done) return FailIn("load image " + tar_path, done.error());
  return {};
}

Result<> DockerRuntime::PullImage(const std::string& reference, const Progress& progress) {
  const Call call{.operation = "image_pull",
                  .method = "POST",
                  .path = "/images/create?fromImage=" + Escape(WithTag(reference)),
                  .deadline = minutes(60),
                  .idle = minutes(5)};
  auto done = Follow(call, progress);
  if (done) return {};
  Error error = done.error();
  if (error.code == Code::kInternal) error.code = Code::kUnavailable;  // 500 is how the engine reports a registry that does not answer
  return FailIn("pull image " + reference, error);
}

Result<> DockerRuntime::BuildImage(const std::string& context_tar, const std::string& tag, const Progress& progress) {
  const Call call{.operation = "image_build",
                  .method = "POST",
                  .path = "/build?t=" + Escape(tag) + "&rm=1&forcerm=1",
                  .upload = context_tar,
                  .deadline = minutes(60),
                  .idle = minutes(15)};
  auto done = Follow(call, progress);
  if (done) return {};
  return FailIn("build image " + tag, done.error());
}

}  // namespace beige::runtime::docker

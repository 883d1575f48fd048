#include "operator/reconcile/images.h"

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/log.h"

namespace beige {
using std::chrono::seconds;
namespace {
constexpr seconds kTellEvery{2};
constexpr seconds kFirstRetry{5};
constexpr seconds kLastRetry{300};
// A pull by policy Always that ended this short ago serves all who were waiting for it.
constexpr seconds kFresh{30};

bool IsLocal(const std::string& reference) { return reference.starts_with("localhost/") || reference.starts_with("sha256:"); }
}  // namespace

Images::Images(runtime::SandboxRuntime& runtime, const Clock& clock, Options options, Notify notify)
    : runtime_(runtime), clock_(clock), options_(std::move(options)), notify_(std::move(notify)), thread_([this] { Run(); }) {}

Images::~Images() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    wake_.notify_all();
  }
  thread_.join();
}

ImageState Images::Ensure(const std::string& reference, PullPolicy policy, const AgentKey& waiter) {
  const bool pulls_always = policy == PullPolicy::kAlways && !IsLocal(reference);
  const auto find = [&]() -> ImageState {
    auto found = runtime_.FindImage(reference);
    if (!found) return {ImageState::Kind::kFailed, {}, "EngineUnavailable", found.error().message, seconds(1)};
    if (*found) return {ImageState::Kind::kReady, **found, "", "", {}};
    return {};
  };
  ImageState state;
  bool looked = false;
  if (!pulls_always) {
    state = find();
    looked = true;
    if (state.kind != ImageState::Kind::kUnknown) return state;
    if (policy == PullPolicy::kNever) {
      return {ImageState::Kind::kFailed, {}, "ImageMissing",
              "image " + reference + " is not in the engine and imagePullPolicy is Never; load it, or use IfNotPresent", seconds(30)};
    }
  }
  {
    std::lock_guard lock(mutex_);
    Job& job = jobs_[reference];
    const SteadyTime now = clock_.Now();
    if (job.state.kind == ImageState::Kind::kBusy) {
      job.waiters.insert(waiter);
      return job.state;
    }
    if (job.state.kind == ImageState::Kind::kFailed) {
      const auto wait = std::min<std::chrono::nanoseconds>(kFirstRetry * (1LL << std::min(job.failures - 1, 10)), kLastRetry);
      if (now < job.ended + wait) {
        ImageState failed = job.state;
        failed.retry_in = job.ended + wait - now;
        return failed;
      }
    }
    const bool serves = pulls_always && job.fresh && now < job.ended + kFresh;
    if (!serves) {
      const bool load = reference == options_.default_image;
      job.state = {ImageState::Kind::kBusy, {}, load ? "ImageLoading" : "ImagePulling", (load ? "loading " : "pulling ") + reference, {}};
      job.fresh = false;
      job.waiters.insert(waiter);
      queue_.push_back(reference);
      wake_.notify_all();
      return job.state;
    }
  }
  return looked ? state : find();
}

bool Images::Busy() {
  std::lock_guard lock(mutex_);
  for (const auto& [reference, job] : jobs_) {
    if (job.state.kind == ImageState::Kind::kBusy) return true;
  }
  return false;
}

void Images::Run() {
  for (;;) {
    std::string reference;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || !queue_.empty(); });
      if (stop_) return;
      reference = queue_.front();
      queue_.pop_front();
    }
    Work(reference);
  }
}

std::string Images::FindTar() const {
  for (const std::string& path : options_.tar_paths) {
    if (!path.empty() && Exists(path)) return path;
  }
  return "";
}

void Images::Work(const std::string& reference) {
  const auto progress = [&](const std::string& line) { Say(reference, line); };
  Result<> done;
  std::string reason = "ImagePullFailed";
  if (reference == options_.default_image) {
    reason = "ImageMissing";
    const std::string tar = FindTar();
    if (!tar.empty()) {
      LogInfo("loading the default image", {{"image", reference}, {"file", tar}});
      done = runtime_.LoadImage(tar, progress);
      if (!done) done = FailIn("load " + tar, done.error());
    } else {
      std::string where;
      for (const std::string& path : options_.tar_paths) where += (where.empty() ? "" : ", ") + path;
      done = Fail(Code::kNotFound, "image " + reference + " is not in the engine and its file is at none of: " + where +
                                       "; make it with sandbox-image/build.sh");
    }
  } else if (IsLocal(reference)) {
    reason = "ImageMissing";
    done = Fail(Code::kNotFound, "image " + reference + " is not in the engine and can't be pulled; load or build it there");
  } else {
    LogInfo("pulling image", {{"image", reference}});
    done = runtime_.PullImage(reference, progress);
  }
  if (done) {
    auto found = runtime_.FindImage(reference);
    if (!found) {
      done = tl::make_unexpected(found.error());
    } else if (!*found) {
      reason = "ImageMissing";
      done = Fail(Code::kNotFound, "the engine has no image " + reference + " although bringing it in succeeded; it may have another name");
    }
  }
  std::set<AgentKey> waiters;
  {
    std::lock_guard lock(mutex_);
    Job& job = jobs_[reference];
    job.ended = clock_.Now();
    job.fresh = done.has_value();
    if (done) {
      job.failures = 0;
      job.state = {};
    } else {
      ++job.failures;
      job.state = {ImageState::Kind::kFailed, {}, reason, done.error().message, {}};
    }
    waiters.swap(job.waiters);
  }
  if (!done) LogWarn("image not available", {{"image", reference}, {"why", done.error().message}});
  for (const AgentKey& waiter : waiters) notify_(waiter);
}

void Images::Say(const std::string& reference, const std::string& line) {
  std::set<AgentKey> waiters;
  {
    std::lock_guard lock(mutex_);
    Job& job = jobs_[reference];
    const SteadyTime now = clock_.Now();
    if (now < job.told + kTellEvery) return;
    job.told = now;
    job.state.message = (job.state.reason == "ImageLoading" ? "loading " : "pulling ") + reference + ": " + line;
    waiters = job.waiters;
  }
  for (const AgentKey& waiter : waiters) notify_(waiter);
}

}  // namespace beige

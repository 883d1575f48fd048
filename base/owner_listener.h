#ifndef BEIGE_BASE_OWNER_LISTENER_H_
#define BEIGE_BASE_OWNER_LISTENER_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "base/loop.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace beige {

// A listening Unix socket of mode 0600 whose connections are handed on only when the peer is this process's own uid, root or the owner of
// `also` (another uid where operator and gateway have one each); others are logged and closed. Pauses accepting for 100 ms when descriptors
// run out. Loop thread only.
class OwnerListener {
 public:
  using OnConnection = std::function<void(UniqueFd)>;  // non-blocking, CLOEXEC

  // `also`: a directory whose owner counts as well, as it is now; absent is nobody.
  static Result<std::unique_ptr<OwnerListener>> Open(Loop& loop, const std::string& path, const std::string& also);
  OwnerListener(const OwnerListener&) = delete;
  OwnerListener& operator=(const OwnerListener&) = delete;

  void Start(OnConnection on_connection);

 private:
  OwnerListener(Loop& loop, std::string name, uid_t also, UniqueFd fd);
  void Accept();

  const std::string name_;  // for the log
  const uid_t also_;
  UniqueFd fd_;
  FdWatch watch_;
  Timer retry_;
  OnConnection on_connection_;
};

}  // namespace beige

#endif

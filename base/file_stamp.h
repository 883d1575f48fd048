#ifndef BEIGE_BASE_FILE_STAMP_H_
#define BEIGE_BASE_FILE_STAMP_H_

#include <cstdint>
#include <string>

namespace beige {

// What tells whether a file was changed. Follows links.
struct FileStamp {
  uint64_t device = 0, inode = 0;
  int64_t size = -1;  // bytes; -1: it is not there, or can't be looked at
  int64_t mtime_ns = 0, ctime_ns = 0;
  bool operator==(const FileStamp&) const = default;
};

FileStamp StampOf(const std::string& path);

// `now` may be a moment in the middle of a write: gone, empty, or the same file and shorter than it was. Whoever obeys the file waits until
// it has been still for 2 s. A file that was renamed into place is whole.
inline bool MayBeHalfWritten(const FileStamp& before, const FileStamp& now) {
  if (now.size <= 0) return before.size > 0;
  return now.device == before.device && now.inode == before.inode && now.size < before.size;
}

}  // namespace beige

#endif

// A file of any size that counts the pages of it that are read, and whose
// contents are made when they are. For Linux.
#ifndef ATTO_TESTS_SUPPORT_COUNTED_FILE_H_
#define ATTO_TESTS_SUPPORT_COUNTED_FILE_H_

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "ops/base/span.h"

namespace atto::testing {

// No page can be read until a read of it has raised the signal whose handler
// makes the page. One at a time: the handler is the process's.
class CountedFile {
 public:
  // `fill` writes the contents of the page that begins at byte `offset` of the
  // file, zero so far. It runs in a signal handler.
  using Fill = void (*)(std::uint8_t* page, std::size_t offset,
                        std::size_t bytes);

  CountedFile(std::size_t bytes, Fill fill)
      : bytes_(bytes),
        page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))),
        fill_(fill) {
    void* const memory =
        ::mmap(nullptr, bytes, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<std::uint8_t*>(memory);
    current_ = this;
    struct sigaction action = {};
    action.sa_sigaction = &OnFault;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSEGV, &action, &before_);
  }
  ~CountedFile() {
    ::sigaction(SIGSEGV, &before_, nullptr);
    ::munmap(data_, bytes_);
    current_ = nullptr;
  }
  CountedFile(const CountedFile&) = delete;
  CountedFile& operator=(const CountedFile&) = delete;

  Span<const std::uint8_t> span() const { return {data_, bytes_}; }
  std::size_t pages_read() const { return pages_read_; }
  std::size_t page_bytes() const { return page_; }

 private:
  static void OnFault(int signal, siginfo_t* info, void*) {
    auto* const at = static_cast<std::uint8_t*>(info->si_addr);
    CountedFile* const file = current_;
    if (file == nullptr || at < file->data_ ||
        at >= file->data_ + file->bytes_) {
      // Not ours: the next fault, of the same instruction, ends the process.
      ::signal(signal, SIG_DFL);
      return;
    }
    const std::size_t offset =
        static_cast<std::size_t>(at - file->data_) / file->page_ * file->page_;
    ::mprotect(file->data_ + offset, file->page_, PROT_READ | PROT_WRITE);
    file->fill_(file->data_ + offset, offset, file->page_);
    ++file->pages_read_;
  }

  inline static CountedFile* current_ = nullptr;

  std::size_t bytes_;
  std::size_t page_;
  Fill fill_;
  std::uint8_t* data_ = nullptr;
  volatile std::size_t pages_read_ = 0;
  struct sigaction before_ = {};
};

}  // namespace atto::testing

#endif  // ATTO_TESTS_SUPPORT_COUNTED_FILE_H_

#include "tools/cli/session.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "tests/support/model_file.h"

#ifdef __linux__
#include "tests/support/counted_file.h"
#endif

namespace atto::cli {
namespace {

// Status and subject, as "bad_key: atto.labels".
std::string Outline(const testing::Bytes& file) {
  const ErrorInfo error = CheckOutline({file.data(), file.size()});
  return std::string(StatusName(error.status)) + ": " + error.subject;
}

TEST_CASE("the outline is that of keys and descriptions, not of weights") {
  testing::ModelFile model = testing::MakeSmallModel();
  testing::Bytes file = model.Build();
  CHECK(Outline(file) == "ok: ");
  file.back() ^= 1;
  CHECK(Outline(file) == "ok: ");
  file.push_back(0);
  CHECK(Outline(file) == "bad_tensor: tensor data");
  file.resize(file.size() - 2);
  CHECK(Outline(file) == "truncated: tensor data");
  file[0] = 'g';
  CHECK(Outline(file) == "bad_magic: model");
}

#ifdef __linux__
// What the file under test begins with; zeros follow.
testing::Bytes head;

void FillPage(std::uint8_t* page, std::size_t offset, std::size_t bytes) {
  if (offset >= head.size()) return;
  std::memcpy(page, head.data() + offset,
              std::min(bytes, head.size() - offset));
}

// Others may shorten a file that is mapped: only a look ends the process then.
TEST_CASE("a large model is looked at where its descriptions are") {
  constexpr std::size_t kFileBytes = 100 << 20;
  testing::ModelFile model = testing::MakeSmallModel();
  model.tensors.push_back({"large", testing::kDataI8, {}, {}});
  model.tensors.back().dims = {1};
  head = model.Build();
  model.tensors.back().dims = {kFileBytes - head.size()};
  head = model.Build();
  const testing::CountedFile file(kFileBytes, &FillPage);
  CHECK(CheckOutline(file.span()).status == Status::kOk);
  CHECK(file.pages_read() <= head.size() / file.page_bytes() + 1);
}
#endif

}  // namespace
}  // namespace atto::cli

#include "tools/cli/arena_picture.h"

#include <doctest/doctest.h>

namespace atto::cli {
namespace {

TEST_CASE("the picture shows who lives where and when") {
  // Two buffers one above the other; the second one's bytes are used again.
  const Buffer buffers[] = {
      {32, 0, 1, 0}, {16, 0, 0, 32}, {32, 1, 1, 32}, {0, 0, 0, 0}};
  const char* const names[] = {"stream", "first", "second", "none"};
  const std::string expected =
      "  address  early      late     \n"
      "        0  AAAAAAAAA  AAAAAAAAA\n"
      "           AAAAAAAAA  AAAAAAAAA\n"
      "           AAAAAAAAA  AAAAAAAAA\n"
      "           AAAAAAAAA  AAAAAAAAA\n"
      "           AAAAAAAAA  AAAAAAAAA\n"
      "           AAAAAAAAA  AAAAAAAAA\n"
      "           AAAAAAAAA  AAAAAAAAA\n"
      "           AAAAAAAAA  AAAAAAAAA\n"
      "           AAAAAAAAA  AAAAAAAAA\n"
      "           AAAAAAAAA  AAAAAAAAA\n"
      "           AAAAAAAAA  AAAAAAAAA\n"
      "           AAAAAAAAA  AAAAAAAAA\n"
      "       32  BBBBBBBBB  CCCCCCCCC\n"
      "           BBBBBBBBB  CCCCCCCCC\n"
      "           BBBBBBBBB  CCCCCCCCC\n"
      "           BBBBBBBBB  CCCCCCCCC\n"
      "           BBBBBBBBB  CCCCCCCCC\n"
      "           BBBBBBBBB  CCCCCCCCC\n"
      "       48  .........  CCCCCCCCC\n"
      "           .........  CCCCCCCCC\n"
      "           .........  CCCCCCCCC\n"
      "           .........  CCCCCCCCC\n"
      "           .........  CCCCCCCCC\n"
      "           .........  CCCCCCCCC\n"
      "       64  end\n"
      "\n"
      "  A  stream                 32 bytes at       0   early to late\n"
      "  B  first                  16 bytes at      32   early\n"
      "  C  second                 32 bytes at      32   late\n";
  CHECK(DrawArena(buffers, names, 64, {"early", "late"}) == expected);
}

}  // namespace
}  // namespace atto::cli

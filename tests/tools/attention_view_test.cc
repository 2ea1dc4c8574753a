#include "tools/cli/attention_view.h"

#include <doctest/doctest.h>

#include <string>

namespace atto::cli {
namespace {

TEST_CASE("shades go by the part of the largest share") {
  CHECK(std::string(Shade(0.6, 0.6)) == "█");
  CHECK(std::string(Shade(0.4, 0.6)) == "█");
  CHECK(std::string(Shade(0.3, 0.6)) == "▒");
  CHECK(std::string(Shade(0.1, 0.6)) == "░");
  CHECK(std::string(Shade(0.05, 0.6)) == " ");
}

TEST_CASE("means over heads and over rows") {
  CHECK(MeanMap({{1.0, 0.0}, {0.5, 0.5}}) == AttentionMap{0.75, 0.25});
  CHECK(MeanRow({1.0, 0.0, 0.5, 0.5}, 2) == std::vector<double>{0.75, 0.25});
  CHECK(MeanRow({0.75, 0.25}, 2) == std::vector<double>{0.75, 0.25});
}

TEST_CASE("words stand above their shades and wrap together") {
  const std::vector<std::string> words = {"you", "won", "a", "prize"};
  CHECK(DrawShadedWords(words, {0.01, 0.3, 0.19, 0.5}, 80) ==
        "  you won a prize\n"
        "      ▒▒▒ ▒ █████\n");
  CHECK(DrawShadedWords(words, {0.01, 0.3, 0.19, 0.5}, 11) ==
        "  you won a\n"
        "      ▒▒▒ ▒\n"
        "  prize\n"
        "  █████\n");
}

TEST_CASE("the matrix shades each row by its own largest share") {
  CHECK(DrawMatrix({"ab", "c"}, {0.9, 0.1, 0.25, 0.75}, 80) ==
        "        1  2\n"
        "  ab 1  ██ ░░\n"
        "  c  2  ▒▒ ██\n");
}

TEST_CASE("only the rows of the map are drawn") {
  CHECK(DrawMatrix({"[class]", "ab", "c"}, {0.1, 0.6, 0.3}, 80) ==
        "             1  2  3\n"
        "  [class] 1  ░░ ██ ▒▒\n");
}

TEST_CASE("a long message still fits: cells shrink first, then words") {
  const std::vector<std::string> words(40, "somewhatlong");
  const std::string picture =
      DrawMatrix(words, AttentionMap(1600, 1.0 / 40), 80);
  // "  " + word + " " + two digits + "  " + 40 cells
  CHECK(picture.find("  somewhatlong 40  " + std::string("█")) !=
        std::string::npos);
}

TEST_CASE("a message cannot break out of the page") {
  AttentionView view;
  view.model = "m";
  view.label = "spam";
  view.words = {"</script><script>alert(1)</script>"};
  view.blocks = {{{1.0}}};
  const std::string page = MakeAttentionPage(view);
  CHECK(page.find("alert(1)") != std::string::npos);
  CHECK(page.find("</script><script>alert") == std::string::npos);
  CHECK(page.find("ATTENTION_DATA") == std::string::npos);
  CHECK(page.find("\"blocks\":[[[1000]]]") != std::string::npos);
  CHECK(page.find("http") == page.find("http://www.w3.org/2000/svg"));
}

}  // namespace
}  // namespace atto::cli

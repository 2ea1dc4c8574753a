#include "tools/cli/attention_view.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tools/cli/attention_page.h"
#include "tools/cli/format.h"
#include "tools/cli/json.h"

namespace atto::cli {
namespace {

constexpr std::size_t kMaxWordColumns = 24;

std::string Repeated(const char* text, std::size_t count) {
  std::string repeated;
  for (std::size_t i = 0; i < count; ++i) repeated += text;
  return repeated;
}

}  // namespace

AttentionMap MeanMap(const std::vector<AttentionMap>& maps) {
  AttentionMap mean(maps.front().size());
  for (const AttentionMap& map : maps) {
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] += map[i] / static_cast<double>(maps.size());
    }
  }
  return mean;
}

std::vector<double> MeanRow(const AttentionMap& map, std::size_t n) {
  const std::size_t rows = map.size() / n;
  std::vector<double> row(n);
  for (std::size_t i = 0; i < map.size(); ++i) {
    row[i % n] += map[i] / static_cast<double>(rows);
  }
  return row;
}

const char* Shade(double share, double largest) {
  if (share * 3 >= largest * 2) return "█";
  if (share * 3 >= largest) return "▒";
  if (share * 10 >= largest) return "░";
  return " ";
}

std::string DrawShadedWords(const std::vector<std::string>& words,
                            const std::vector<double>& shares,
                            std::size_t columns) {
  const double largest = *std::max_element(shares.begin(), shares.end());
  std::string picture;
  std::string text;
  std::string shades;
  std::size_t used = 0;
  const auto flush = [&] {
    shades.erase(shades.find_last_not_of(' ') + 1);
    picture +=
        "  " + text + "\n" + (shades.empty() ? "" : "  ") + shades + "\n";
    text.clear();
    shades.clear();
    used = 0;
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = CutToColumns(words[i], kMaxWordColumns);
    const std::size_t width = std::max<std::size_t>(Columns(word), 1);
    if (used > 0 && used + 1 + width + 2 > columns) flush();
    if (used > 0) {
      text += ' ';
      shades += ' ';
      ++used;
    }
    text += PadRight(word, width);
    shades += Repeated(Shade(shares[i], largest), width);
    used += width;
  }
  if (used > 0) flush();
  return picture;
}

std::string DrawMatrix(const std::vector<std::string>& words,
                       const AttentionMap& map, std::size_t columns) {
  const std::size_t n = words.size();
  const std::size_t rows = map.size() / n;
  const std::size_t digits = std::to_string(n).size();
  std::size_t longest = 0;
  for (const std::string& word : words) {
    longest = std::max(longest, Columns(word));
  }
  // As wide cells as fit, 3 at most, and then with a gap between them; what
  // they leave is for the words.
  std::size_t cell = 3;
  while (cell > 1 && 2 + 8 + 1 + digits + 2 + n * cell > columns) --cell;
  const std::size_t fixed = 2 + 1 + digits + 2 + n * cell;
  const std::size_t word_columns =
      std::min(std::min(longest, kMaxWordColumns),
               columns > fixed + 8 ? columns - fixed : 8);

  // The column numbers, one digit a line.
  std::string picture;
  for (std::size_t digit = 0; digit < digits; ++digit) {
    picture += std::string(2 + word_columns + 1 + digits + 2, ' ');
    for (std::size_t k = 1; k <= n; ++k) {
      const std::string number = PadLeft(std::to_string(k), digits);
      picture += PadRight(number.substr(digit, 1), cell);
    }
    picture.erase(picture.find_last_not_of(' ') + 1);
    picture += '\n';
  }
  for (std::size_t q = 0; q < rows; ++q) {
    const double* const row = map.data() + q * n;
    const double largest = *std::max_element(row, row + n);
    std::string cells;
    for (std::size_t k = 0; k < n; ++k) {
      cells += Repeated(Shade(row[k], largest), cell == 3 ? 2 : cell);
      if (cell == 3) cells += ' ';
    }
    cells.erase(cells.find_last_not_of(' ') + 1);
    picture +=
        "  " + PadRight(CutToColumns(words[q], word_columns), word_columns) +
        ' ' + PadLeft(std::to_string(q + 1), digits) + "  " + cells + '\n';
  }
  return picture;
}

std::string MakeAttentionPage(const AttentionView& view) {
  constexpr int kUnit = 1000;  // shares are sent in thousandths
  nlohmann::ordered_json data;
  data["model"] = view.model;
  data["label"] = view.label;
  data["score"] = view.score;
  data["cut_tokens"] = view.cut_tokens;
  data["tokens"] = view.words;
  data["unit"] = kUnit;
  for (const std::vector<AttentionMap>& heads : view.blocks) {
    nlohmann::ordered_json block = nlohmann::ordered_json::array();
    for (const AttentionMap& map : heads) {
      std::vector<long> parts;
      for (const double share : map)
        parts.push_back(std::lround(kUnit * share));
      block.push_back(parts);
    }
    data["blocks"].push_back(block);
  }
  // A message must not be able to end the script that holds it.
  std::string text = DumpJson(data);
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;) {
    text.replace(at, 1, "\\u003c");
  }
  std::string page = kAttentionPage;
  return page.replace(page.find(kAttentionData), std::strlen(kAttentionData),
                      text);
}

}  // namespace atto::cli

// Attention as people can see it: shaded words, a matrix, a page.
#ifndef ATTO_TOOLS_CLI_ATTENTION_VIEW_H_
#define ATTO_TOOLS_CLI_ATTENTION_VIEW_H_

#include <cstddef>
#include <string>
#include <vector>

namespace atto::cli {

// Shares [rows, n] of one head, row-major: row i is what word i looks at and
// sums to 1. A block works out the rows that reach the label: all n, but with a
// class token only that token's row in the last block.
using AttentionMap = std::vector<double>;

struct AttentionView {
  std::string model;
  std::string label;
  double score = 0;
  std::size_t cut_tokens = 0;
  std::vector<std::string> words;                 // [n], printable
  std::vector<std::vector<AttentionMap>> blocks;  // [block][head]
};

// The mean of equally large maps; legal: at least one.
AttentionMap MeanMap(const std::vector<AttentionMap>& maps);

// What the whole input looks at: the mean over the rows of a map.
std::vector<double> MeanRow(const AttentionMap& map, std::size_t n);

// One shade for a share: none, weak, medium or strong, by its part of the
// largest share of the row (from 1/10, 1/3, 2/3).
const char* Shade(double share, double largest);

// The words on lines of at most `columns`, each line with its shades below.
std::string DrawShadedWords(const std::vector<std::string>& words,
                            const std::vector<double>& shares,
                            std::size_t columns);

// A row for every word that the map has one of, a column for every word it
// looks at.
std::string DrawMatrix(const std::vector<std::string>& words,
                       const AttentionMap& map, std::size_t columns);

// A self-contained page: works offline, in light and dark.
std::string MakeAttentionPage(const AttentionView& view);

}  // namespace atto::cli

#endif  // ATTO_TOOLS_CLI_ATTENTION_VIEW_H_

#include "bench/support/shapes.h"

#include <charconv>
#include <set>
#include <sstream>
#include <string_view>
#include <tuple>

#include "tools/cli/files.h"

namespace atto::bench {

Shape::Shape(const std::string& where, const std::string& line)
    : where_(where) {
  std::istringstream words(line);
  words >> name_;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw cli::Failure(where_ + ": '" + word + "' is not key=value");
    }
    values_[word.substr(0, equals)] = word.substr(equals + 1);
  }
}

std::size_t Shape::Number(const std::string& text) const {
  const char* const end = text.data() + text.size();
  std::size_t number = 0;
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end || number == 0) {
    throw cli::Failure(where_ + ": '" + text + "' is no number of at least 1");
  }
  return number;
}

std::size_t Shape::Size(const std::string& key) const {
  const auto at = values_.find(key);
  if (at == values_.end()) throw cli::Failure(where_ + ": no " + key);
  return Number(at->second);
}

std::vector<std::size_t> Shape::Measured() const {
  const auto at = values_.find("measure");
  if (at == values_.end()) return {Size("tokens")};
  std::vector<std::size_t> counts;
  std::istringstream words(at->second);
  for (std::string word; std::getline(words, word, ',');) {
    counts.push_back(Number(word));
  }
  return counts;
}

std::vector<Shape> ReadShapes(const std::string& path) {
  const std::string text = cli::ReadText(path);
  std::vector<Shape> shapes;
  std::string_view rest = text;
  std::string_view line;
  for (std::size_t number = 1; cli::NextLine(&rest, &line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    shapes.emplace_back(path + ":" + std::to_string(number), std::string(line));
  }
  return shapes;
}

std::string MatmulShape::name() const {
  return std::to_string(rows) + "x" + std::to_string(in) + "x" +
         std::to_string(out);
}

bool MatmulShape::operator<(const MatmulShape& other) const {
  return std::tie(rows, in, out) < std::tie(other.rows, other.in, other.out);
}

bool EncoderSizes::operator<(const EncoderSizes& other) const {
  return std::tie(d_model, d_ffn, heads, tokens) <
         std::tie(other.d_model, other.d_ffn, other.heads, other.tokens);
}

ShapeLists::ShapeLists(const std::string& folder) {
  std::set<MatmulShape> matmul_set;
  std::set<EncoderSizes> encoder_set;
  for (const Shape& shape : ReadShapes(folder + "/matmul.txt")) {
    matmul_set.insert(
        {shape.Size("rows"), shape.Size("in"), shape.Size("out")});
  }
  for (const char* const list : {"spam", "seed", "kwt1"}) {
    for (const Shape& shape : ReadShapes(folder + "/" + list + ".txt")) {
      const std::size_t d = shape.Size("d_model");
      const std::size_t f = shape.Size("d_ffn");
      for (const std::size_t n : shape.Measured()) {
        encoder_set.insert({n, d, shape.Size("heads"), f});
        matmul_set.insert({n, d, d});
        matmul_set.insert({n, d, f});
        matmul_set.insert({n, f, d});
      }
    }
  }
  matmuls.assign(matmul_set.begin(), matmul_set.end());
  encoders.assign(encoder_set.begin(), encoder_set.end());
}

}  // namespace atto::bench

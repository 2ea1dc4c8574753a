// The shape lists of bench/shapes: a shape a line, its name and then
// key=value words; # starts a comment.
#ifndef ATTO_BENCH_SUPPORT_SHAPES_H_
#define ATTO_BENCH_SUPPORT_SHAPES_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace atto::bench {

class Shape {
 public:
  // `line`: neither empty nor a comment. `where` names it in messages.
  // Throws cli::Failure if a word is not key=value.
  Shape(const std::string& where, const std::string& line);

  const std::string& name() const { return name_; }
  // Throws cli::Failure if the key is missing or its value is no number >= 1.
  std::size_t Size(const std::string& key) const;

  // Numbers of tokens to measure an encoder with: measure=A,B,... or else its
  // tokens.
  std::vector<std::size_t> Measured() const;

 private:
  std::size_t Number(const std::string& text) const;

  std::string where_;
  std::string name_;
  std::map<std::string, std::string> values_;
};

// Throws cli::Failure if the file cannot be read or a line is wrong.
std::vector<Shape> ReadShapes(const std::string& path);

// A matrix product: [rows, in] times [in, out].
struct MatmulShape {
  std::size_t rows, in, out;

  std::string name() const;  // such as 64x128x512
  std::size_t multiply_adds() const { return rows * in * out; }
  bool operator<(const MatmulShape& other) const;
};

// What an encoder's ops see.
struct EncoderSizes {
  std::size_t tokens, d_model, heads, d_ffn;

  bool operator<(const EncoderSizes& other) const;
};

// The shapes of every list in `folder`, each once, sorted. An encoder's matrix
// products count among the matrix products, except that of its input and head.
struct ShapeLists {
  explicit ShapeLists(const std::string& folder);

  std::vector<MatmulShape> matmuls;
  std::vector<EncoderSizes> encoders;
};

}  // namespace atto::bench

#endif  // ATTO_BENCH_SUPPORT_SHAPES_H_

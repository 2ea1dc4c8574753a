// Reader of tests/golden/*.txt; the format is in tests/golden/README.md.
#ifndef ATTO_TESTS_SUPPORT_GOLDEN_H_
#define ATTO_TESTS_SUPPORT_GOLDEN_H_

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace atto::testing {

// The folder of the project's sources.
inline std::string SourceDir() {
  const char* const dir = std::getenv("ATTO_SOURCE_DIR");
  return dir != nullptr ? dir : ".";
}

struct GoldenArray {
  std::vector<std::size_t> shape;
  std::vector<std::int64_t> values;
};

class GoldenCase {
 public:
  std::string name;
  std::map<std::string, std::int64_t> scalars;
  std::map<std::string, GoldenArray> arrays;

  bool Has(const std::string& array) const { return arrays.count(array) != 0; }

  std::int64_t Scalar(const std::string& scalar) const {
    REQUIRE_MESSAGE(scalars.count(scalar) == 1, scalar);
    return scalars.at(scalar);
  }
  const GoldenArray& Array(const std::string& array) const {
    REQUIRE_MESSAGE(arrays.count(array) == 1, array);
    return arrays.at(array);
  }
  // The values in the type that the op takes; each must fit.
  template <typename T>
  std::vector<T> Values(const std::string& array) const {
    std::vector<T> result;
    for (const std::int64_t value : Array(array).values) {
      result.push_back(static_cast<T>(value));
      REQUIRE(static_cast<std::int64_t>(result.back()) == value);
    }
    return result;
  }
  std::size_t Dim(const std::string& array, std::size_t axis) const {
    return Array(array).shape.at(axis);
  }
};

// `file` is relative to tests/golden, without its ending.
inline std::vector<GoldenCase> ReadGolden(const std::string& file) {
  const std::string path = SourceDir() + "/tests/golden/" + file + ".txt";
  std::ifstream in(path);
  REQUIRE_MESSAGE(in.good(), path);
  std::vector<GoldenCase> cases;
  std::string word;
  while (in >> word && word != "end") {
    if (word == "golden") {
      in >> word;
    } else if (word == "case") {
      cases.emplace_back();
      in >> cases.back().name;
    } else if (word == "scalar") {
      std::string name;
      in >> name >> cases.back().scalars[name];
    } else {
      REQUIRE_MESSAGE((word == "array" || word == "fill"), word);
      std::string name;
      std::string type;
      std::size_t rank = 0;
      in >> name >> type >> rank;
      GoldenArray& array = cases.back().arrays[name];
      std::size_t size = 1;
      for (std::size_t i = 0; i < rank; ++i) {
        array.shape.emplace_back();
        in >> array.shape.back();
        size *= array.shape.back();
      }
      array.values.resize(size);
      if (word == "array") {
        for (std::int64_t& value : array.values) in >> value;
      } else if (size != 0) {
        in >> array.values[0];
        array.values.assign(size, array.values[0]);
      }
    }
    REQUIRE(in.good());
  }
  REQUIRE_MESSAGE(word == "end", path);
  REQUIRE(!cases.empty());
  return cases;
}

}  // namespace atto::testing

#endif  // ATTO_TESTS_SUPPORT_GOLDEN_H_

// The float ops whose kernels are a loop over rows: activation, add, embedding,
// LayerNorm, pooling, softmax.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/support/float_backends.h"

namespace atto {
namespace {

using testing::CheckClose;
using testing::Floats;
using testing::RandomFloats;
using testing::Rows;
using testing::RunnableFloatBackends;
using testing::Unset;

std::vector<double> Doubles(const Floats& values) {
  return {values.begin(), values.end()};
}

double Gelu(double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }

TEST_CASE("float GELU: all of [-30, 30], and every length") {
  for (const FloatBackend& backend : RunnableFloatBackends()) {
    CAPTURE(backend.name);
    Floats x;
    for (int i = -30000; i <= 30000; ++i) {
      x.push_back(static_cast<float>(i) / 1000);
    }
    for (const float extreme : {0.0F, 1e-30F, -1e-30F, 1e9F, -1e9F}) {
      x.push_back(extreme);
    }
    std::vector<double> wanted;
    for (const float value : x) wanted.push_back(Gelu(double{value}));
    Floats y = x;
    backend.gelu(Span<float>(y.data(), y.size()));
    for (std::size_t i = 0; i < y.size(); ++i) {
      CAPTURE(x[i]);
      const double error = std::abs(double{y[i]} - wanted[i]);
      // Absolute where the result vanishes, relative where it is x.
      if (!(error <= 4e-7 + 2e-7 * std::abs(wanted[i]))) {
        CHECK(double{y[i]} == wanted[i]);
        break;
      }
    }
    for (std::size_t size = 1; size <= 70; ++size) {
      Floats part(x.begin() + 29000,
                  x.begin() + 29000 + static_cast<std::ptrdiff_t>(size));
      backend.gelu(Span<float>(part.data(), size));
      CheckClose(part,
                 std::vector<double>(wanted.begin() + 29000,
                                     wanted.begin() + 29000 +
                                         static_cast<std::ptrdiff_t>(size)),
                 4e-7);
    }
  }
}

TEST_CASE("float ReLU, add, mean: every length") {
  std::mt19937 random(3);
  for (const FloatBackend& backend : RunnableFloatBackends()) {
    CAPTURE(backend.name);
    for (std::size_t size = 1; size <= 70; ++size) {
      const Floats x = RandomFloats(&random, size);
      Floats y = x;
      backend.relu(Span<float>(y.data(), size));
      for (std::size_t i = 0; i < size; ++i) {
        CHECK(y[i] == (x[i] > 0 ? x[i] : 0));
      }
      Floats sums = RandomFloats(&random, size);
      std::vector<double> wanted = Doubles(sums);
      for (std::size_t i = 0; i < size; ++i) wanted[i] += double{x[i]};
      backend.add(Span<const float>(x.data(), size), sums.data());
      CheckClose(sums, wanted, 1e-6);

      const Floats rows = RandomFloats(&random, 5 * size);
      wanted.assign(size, 0);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        wanted[i % size] += double{rows[i]} / 5;
      }
      Floats mean(size, 0);
      backend.sum_rows(Rows(rows, 5), mean.data());
      backend.mean(Span<const float>(mean.data(), size), 5, mean.data());
      CheckClose(mean, wanted, 1e-6);
    }
  }
}

TEST_CASE("float embedding: sums of rows, repeated ones and none") {
  std::mt19937 random(4);
  for (const FloatBackend& backend : RunnableFloatBackends()) {
    CAPTURE(backend.name);
    for (const std::size_t width : {1U, 7U, 16U, 33U, 64U, 100U}) {
      const Floats table = RandomFloats(&random, 20 * width);
      FloatEmbedding embedding;
      embedding.table = table.data();
      embedding.rows = 20;
      embedding.width = static_cast<std::uint16_t>(width);
      std::vector<std::uint16_t> rows;
      for (std::uint16_t count = 0; count < 30; ++count) {
        std::vector<double> wanted(width, 0);
        for (const std::uint16_t row : rows) {
          for (std::size_t j = 0; j < width; ++j) {
            wanted[j] += double{table[row * width + j]};
          }
        }
        Floats y = Unset(width);
        backend.embedding_sum(
            embedding, Span<const std::uint16_t>(rows.data(), rows.size()),
            y.data());
        CheckClose(y, wanted, 1e-5);
        rows.push_back(static_cast<std::uint16_t>(count * 7 % 20));
      }
    }
  }
}

TEST_CASE("float LayerNorm: odd sizes, large means, constant rows, in place") {
  std::mt19937 random(5);
  for (const FloatBackend& backend : RunnableFloatBackends()) {
    CAPTURE(backend.name);
    for (const std::size_t d : {2U, 3U, 8U, 9U, 17U, 31U, 64U, 100U, 512U}) {
      CAPTURE(d);
      const Floats gain = RandomFloats(&random, d);
      const Floats bias = RandomFloats(&random, d);
      FloatLayerNorm norm;
      norm.gain = gain.data();
      norm.bias = bias.data();
      norm.d = static_cast<std::uint16_t>(d);
      Floats x = RandomFloats(&random, 4 * d, 3);
      for (std::size_t j = 0; j < d; ++j) {
        x[d + j] += 1000;
        x[2 * d + j] = 5;
        x[3 * d + j] *= 1e-3F;
      }
      std::vector<double> wanted;
      for (std::size_t i = 0; i < 4; ++i) {
        double mean = 0;
        double variance = 0;
        for (std::size_t j = 0; j < d; ++j) mean += double{x[i * d + j]};
        mean /= static_cast<double>(d);
        for (std::size_t j = 0; j < d; ++j) {
          variance += std::pow(double{x[i * d + j]} - mean, 2);
        }
        variance /= static_cast<double>(d);
        for (std::size_t j = 0; j < d; ++j) {
          const double z =
              (double{x[i * d + j]} - mean) / std::sqrt(variance + 1e-5);
          wanted.push_back(z * double{gain[j]} + double{bias[j]});
        }
      }
      // A mean of 1,000 leaves a spread of 3 with some 15 bits.
      backend.layernorm(norm, Rows(x, 4), Rows(&x, 4));
      CheckClose(x, wanted, 2e-3);
      CheckClose(
          Floats(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(d)),
          {wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(d)},
          1e-5);
    }
  }
}

TEST_CASE("float softmax: every length, distances without end") {
  std::mt19937 random(6);
  for (const FloatBackend& backend : RunnableFloatBackends()) {
    CAPTURE(backend.name);
    for (std::size_t size = 1; size <= 130; ++size) {
      Floats x = RandomFloats(&random, size, 6);
      if (size > 2) x[size / 2] = -1e4F;
      double largest = double{x[0]};
      for (const float value : x) largest = std::fmax(largest, double{value});
      std::vector<double> wanted;
      double wanted_sum = 0;
      for (const float value : x) {
        wanted.push_back(std::exp(0.3F * (double{value} - largest)));
        wanted_sum += wanted.back();
      }
      const float sum = backend.softmax(0.3F, Span<float>(x.data(), size));
      CheckClose(x, wanted, 5e-7);
      CHECK(double{sum} == doctest::Approx(wanted_sum).epsilon(1e-6));
    }
  }
}

}  // namespace
}  // namespace atto

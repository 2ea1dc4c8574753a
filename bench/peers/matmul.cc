#include "bench/peers/matmul.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>

#include "bench/support/clock.h"

namespace atto::bench {

int MatmulMain(int argc, char** argv, const char* name,
               const std::vector<MatmulPeer>& peers) {
  CLI::App app("Measures int8 matrix products.");
  app.name(name);
  std::string list;
  double seconds = 0.1;
  app.add_option("shapes", list, "a list such as bench/shapes/matmul.txt")
      ->required();
  app.add_option("--seconds", seconds, "time to spend on each product")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  try {
    app.parse(argc, argv);
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const Shape& shape : ReadShapes(list)) {
      const MatmulShape sizes = {shape.Size("rows"), shape.Size("in"),
                                 shape.Size("out")};
      for (const MatmulPeer& peer : peers) {
        const Latency latency = Measure(seconds, 20000, peer.prepare(sizes));
        rows.push_back({{"shape", shape.name()},
                        {"runtime", peer.runtime},
                        {"precision", peer.precision},
                        {"us_min", latency.min / 1e3},
                        {"us_median", latency.median / 1e3}});
      }
    }
    std::puts(rows.dump().c_str());
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
  return 0;
}

}  // namespace atto::bench

// The version of atto: the one place where it is written. The build reads it
// from here, so that the sources also build without CMake.
#ifndef ATTO_RUNTIME_VERSION_H_
#define ATTO_RUNTIME_VERSION_H_

#define ATTO_VERSION_MAJOR 0
#define ATTO_VERSION_MINOR 1
#define ATTO_VERSION_PATCH 0

namespace atto {

// The version of the library that is linked, such as "0.1.0". Semantic
// versioning (semver.org); never null.
const char* version() noexcept;

}  // namespace atto

#endif  // ATTO_RUNTIME_VERSION_H_

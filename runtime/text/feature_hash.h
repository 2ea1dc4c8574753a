// Hashes of the tokenizer's features: FNV-1a, 32 bits (Fowler, Noll, Vo).
#ifndef ATTO_RUNTIME_TEXT_FEATURE_HASH_H_
#define ATTO_RUNTIME_TEXT_FEATURE_HASH_H_

#include <cstddef>
#include <cstdint>

namespace atto {

inline std::uint32_t HashByte(std::uint32_t hash, std::uint32_t byte) noexcept {
  return (hash ^ byte) * 16777619U;
}

// A hash begins with the kind of the feature.
inline std::uint32_t HashStart(std::uint32_t kind) noexcept {
  return HashByte(2166136261U, kind);
}

// Four bytes, the lowest first.
inline std::uint32_t HashWord(std::uint32_t hash, std::uint32_t word) noexcept {
  for (std::uint32_t shift = 0; shift < 32; shift += 8) {
    hash = HashByte(hash, word >> shift & 0xFF);
  }
  return hash;
}

// A code point as UTF-8.
inline std::uint32_t HashCode(std::uint32_t hash, std::uint32_t code) noexcept {
  if (code < 0x80) return HashByte(hash, code);
  if (code < 0x800) {
    hash = HashByte(hash, 0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      hash = HashByte(hash, 0xE0 | code >> 12);
    } else {
      hash = HashByte(hash, 0xF0 | code >> 18);
      hash = HashByte(hash, 0x80 | (code >> 12 & 0x3F));
    }
    hash = HashByte(hash, 0x80 | (code >> 6 & 0x3F));
  }
  return HashByte(hash, 0x80 | (code & 0x3F));
}

inline std::uint32_t HashText(std::uint32_t kind, const std::uint32_t* codes,
                              std::size_t size) noexcept {
  std::uint32_t hash = HashStart(kind);
  for (std::size_t i = 0; i < size; ++i) hash = HashCode(hash, codes[i]);
  return hash;
}

// The final mix of MurmurHash3 (Appleby), so that the high bits are well mixed.
inline std::uint32_t Mix(std::uint32_t hash) noexcept {
  hash ^= hash >> 16;
  hash *= 0x85EBCA6BU;
  hash ^= hash >> 13;
  hash *= 0xC2B2AE35U;
  return hash ^ hash >> 16;
}

}  // namespace atto

#endif  // ATTO_RUNTIME_TEXT_FEATURE_HASH_H_

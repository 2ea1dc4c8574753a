#include "ops/add/add.h"
#include "ops/base/fixed_point.h"
#include "ops/dsp/word.h"

namespace atto {

void AddS16Dsp(Span<const std::int16_t> x, std::int16_t* r) noexcept {
  const std::size_t whole = x.size() / 2 * 2;
  for (std::size_t i = 0; i < whole; i += 2) {
    dsp::StoreWord(
        dsp::AddSaturating(dsp::LoadWord(r + i), dsp::LoadWord(x.data() + i)),
        r + i);
  }
  if (whole != x.size()) r[whole] = Sat16(r[whole] + x[whole]);
}

void AddShiftedS8Dsp(unsigned shift, Span<const std::int8_t> x,
                     std::int16_t* r) noexcept {
  const std::size_t whole = x.size() / 4 * 4;
  for (std::size_t i = 0; i < whole; i += 4) {
    const std::uint32_t word = dsp::LoadWord(x.data() + i);
    const std::uint32_t even = dsp::EvenBytes(word);
    const std::uint32_t odd = dsp::OddBytes(word);
    const std::uint32_t first =
        dsp::ShiftHalves(dsp::LowHalves(even, odd), shift);
    const std::uint32_t second =
        dsp::ShiftHalves(dsp::HighHalves(even, odd), shift);
    std::int16_t* const to = r + i;
    dsp::StoreWord(dsp::AddSaturating(dsp::LoadWord(to), first), to);
    dsp::StoreWord(dsp::AddSaturating(dsp::LoadWord(to + 2), second), to + 2);
  }
  for (std::size_t i = whole; i < x.size(); ++i) {
    r[i] = Sat16(r[i] + x[i] * (1 << shift));
  }
}

}  // namespace atto

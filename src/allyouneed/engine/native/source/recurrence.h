// SSRU (Kim et al. 2019), a recurrence that a decoder layer may have in place of self-attention.
//
// A layer remembers the past in one state vector per row. The states of all steps are kept, so that
// the search can return to any of them.
#pragma once

#include "rows.h"

template <class P>
struct Recurrence {
  typename P::Linear map;  // W and W_f beside each other
  bool there = false;      // false: the layer has self-attention
};

// One step of one row: f = σ(gate), state = f · before + (1 - f) · fresh, out = max(0, state).
// `before` is null at the first step, which counts as a state of zeros.
inline void recur(const float* fresh, const float* gate, const float* before, float* state,
                  float* out, int n) {
  for (int i = 0; i < n; ++i) {
    const float forget = 1.0f / (1.0f + exponential(gate[i] < -87.0f ? 87.0f : -gate[i]));
    state[i] = (1.0f - forget) * fresh[i] + (before ? forget * before[i] : 0.0f);
    out[i] = state[i] > 0.0f ? state[i] : 0.0f;
  }
}

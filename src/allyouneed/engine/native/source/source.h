// The source sentences of a batch, one after the other without padding.
#pragma once

#include <climits>
#include <stdexcept>
#include <string>
#include <vector>

#include "interface.h"

struct Source {
  std::vector<int> lengths, first;  // for each sentence: its tokens, and its first token's row
  int tokens = 0;

  int sentences() const { return int(lengths.size()); }

  void take(const aya_lists& sources, const aya_config& config) {
    if (int64_t(sources.count) * config.heads > INT_MAX)  // they are counted together
      throw std::invalid_argument("the batch has too many sentences");
    lengths.clear();
    first.clear();
    int64_t all = 0;
    for (int s = 0; s < sources.count; ++s) {
      const int64_t length = sources.offsets[s + 1] - sources.offsets[s];
      if (length < 1 || length > config.max_positions)
        throw std::invalid_argument("a source has " + std::to_string(length) +
                                    " tokens; the model takes 1 ... " +
                                    std::to_string(config.max_positions));
      lengths.push_back(int(length));
      first.push_back(int(all));
      all += length;
      if (all > INT_MAX / 2) throw std::invalid_argument("the batch has too many tokens");
    }
    tokens = int(all);
  }
};

// The page in a real browser: one Chromium, one file after another.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/page/*.test.js"],
    fileParallelism: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});

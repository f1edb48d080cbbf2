import { expect, test } from "vitest";
import { decodeFloat16, tensor } from "../src/float16.js";
import { encodeFloat16 } from "./fake_model.js";

/** @param {...number} bits */
const halves = (...bits) => Uint16Array.from(bits).buffer;

test("halves as IEEE 754 has them", () => {
  const found = decodeFloat16(halves(0x0000, 0x3c00, 0xc000, 0x3555, 0x7bff, 0x0001, 0x03ff, 0x7c00, 0xfc00));
  expect([...found]).toEqual([0, 1, -2, Math.fround(0.333251953125), 65504, 2 ** -24, Math.fround(1023 * 2 ** -24), Infinity, -Infinity]);
  expect(decodeFloat16(halves(0x7e00))[0]).toBeNaN();
});

test("the made-up model's halves are the nearest ones", () => {
  const numbers = [0, 1, -1, 0.1, 3.14159, 1e-5, 60000];
  const found = decodeFloat16(encodeFloat16(numbers));
  numbers.forEach((number, i) => expect(Math.abs(found[i] - number)).toBeLessThanOrEqual(Math.abs(number) * 2 ** -11 + 2 ** -25));
});

test("an array that is not of its shape is an error", () => {
  expect(() => tensor({ shape: [2, 3], data: halves(1, 2, 3) })).toThrow("[2,3] holds 3 numbers, not 6");
});

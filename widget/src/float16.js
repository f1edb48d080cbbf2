// Half-precision numbers as they are sent: IEEE 754 binary16, little-endian.

/** Every half-precision number by its 16 bits; made when first needed. @type {Float32Array | null} */
let table = null;

/** @param {number} bits @returns {number} */
function value(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/**
 * The numbers of a buffer of little-endian halves.
 * @param {ArrayBuffer} buffer
 * @returns {Float32Array}
 */
export function decodeFloat16(buffer) {
  table ??= Float32Array.from({ length: 65536 }, (_, bits) => value(bits));
  const view = new DataView(buffer);
  const numbers = new Float32Array(buffer.byteLength >> 1);
  for (let i = 0; i < numbers.length; i++) numbers[i] = table[view.getUint16(2 * i, true)];
  return numbers;
}

/**
 * A tensor of an answer: its numbers in row-major order.
 * @typedef {{shape: number[], data: Float32Array}} Tensor
 * @param {{shape: number[], data: ArrayBuffer}} array
 * @returns {Tensor}
 */
export function tensor(array) {
  const data = decodeFloat16(array.data);
  const wanted = array.shape.reduce((product, size) => product * size, 1);
  if (data.length !== wanted)
    throw new Error(`an array of shape [${array.shape}] holds ${data.length} numbers, not ${wanted}`);
  return { shape: array.shape, data };
}

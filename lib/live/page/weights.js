// The weights of a model: base64 of the arrays that live.cpp lays out, little-endian.

const base64Step = 1 << 20; // characters at a time; a multiple of 4

// Decodes base64; calls progress(fraction) from time to time.
function decodeBase64(text, progress = () => {}) {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = new Uint8Array(text.length / 4 * 3 - padding);
  let to = 0;
  for (let from = 0; from < text.length; from += base64Step) {
    const part = atob(text.slice(from, from + base64Step));
    for (let i = 0; i < part.length; ++i) bytes[to++] = part.charCodeAt(i);
    progress(to / bytes.length);
  }
  return bytes;
}

// IEEE 754 binary16 as numbers.
function floatsOfHalves(halves) {
  const value = (bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = bits >> 10 & 31;
    const fraction = bits & 1023;
    if (exponent === 0) return sign * fraction * 2 ** -24;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return sign * (1024 + fraction) * 2 ** (exponent - 25);
  };
  const table = Float32Array.from({ length: 1 << 16 }, (_, bits) => value(bits));
  const floats = new Float32Array(halves.length);
  for (let i = 0; i < halves.length; ++i) floats[i] = table[halves[i]];
  return floats;
}

// Map of NAME to { rows, cols, q, scales }, where weight (r, c) is scales[r] * q[r * cols + c], or
// to { rows, cols, data }; a vector has 1 row. `model` is an element of data.models.
function decodeWeights(model, base64, progress) {
  const { buffer } = decodeBase64(base64, progress);
  const weights = new Map();
  for (const [name, { shape, type, at, scales_at: scalesAt }] of Object.entries(model.tensors)) {
    const cols = shape.at(-1);
    const rows = shape.length > 1 ? shape[0] : 1;
    const size = rows * cols;
    if (type === 'int8') {
      weights.set(name, { rows, cols, q: new Int8Array(buffer, at, size),
        scales: new Float32Array(buffer, scalesAt, rows) });
    } else {
      const data = type === 'f16' ? floatsOfHalves(new Uint16Array(buffer, at, size))
        : new Float32Array(buffer, at, size);
      weights.set(name, { rows, cols, data });
    }
  }
  return weights;
}

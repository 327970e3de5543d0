// The arithmetic of the engine. Matrices are row-major Float32Arrays. Sums have the order and the
// roundings of the CPU kernels (kernels/cpu). 8-bit models therefore give the same tokens as
// tx-decode --precision int8: one flipped rounding of an activation would change all that follows.
const float = Math.fround;
// a b + c, rounded once, as registers are (fused() in kernels/cpu/simd.h), and rounded twice.
const fused = (a, b, c) => float(a * b + c);
const separate = (a, b, c) => float(float(a * b) + c);
const laneCount = 16;  // partial sums of a row, kernels/cpu/lanes.h

// The sum of 16 partial sums: l and l + 8, then l and l + 4, and so on.
function foldLanes(part) {
  for (let half = laneCount / 2; half >= 1; half /= 2) {
    for (let l = 0; l < half; ++l) part[l] += part[l + half];
  }
  return part[0];
}
const laneSums = new Float32Array(laneCount);

// Rounds to bf16, as the cache of keys and values of an 8-bit model does.
const floatBits = new Uint32Array(1);
const floatOfBits = new Float32Array(floatBits.buffer);
function roundToBf16(x, from, to) {
  for (let i = from; i < to; ++i) {
    floatOfBits[0] = x[i];
    const u = floatBits[0];
    floatBits[0] = (u + 0x7fff + ((u >>> 16) & 1)) & 0xffff0000;
    x[i] = floatOfBits[0];
  }
}

// exp of a float as the kernels compute it: 2^k times a polynomial of degree 6; 0 below -87. add:
// fused in a register, separate for a single value.
const [exp6, exp5, exp4, exp3, exp2] =
  [1.38145406e-3, 8.36874545e-3, 4.1668389e-2, 1.66665211e-1, 0.49999994].map(float);
const [log2e, ln2High, ln2Low] = [1.44269504088896, 0.693359375, 2.12194440e-4].map(float);
const floatRounder = 12582912;  // 1.5 * 2^23: a float near it has no fraction
function exponential(x, add) {
  if (x < -87) return 0;
  const k = float(add(x, log2e, floatRounder) - floatRounder);
  const r = add(k, ln2Low, float(x - k * ln2High));
  let p = exp6;
  for (const c of [exp5, exp4, exp3, exp2, 1, 1]) p = add(p, r, c);
  return float(p * 2 ** k);
}

// Softmax of x[0 .. count) times scale, in place.
function softmax(x, count, scale) {
  let max = -Infinity;
  for (let j = 0; j < count; ++j) if (x[j] > max) max = x[j];
  laneSums.fill(0);
  for (let j = 0; j < count; ++j) {
    x[j] = exponential(float(float(x[j] - max) * scale), fused);
    laneSums[j % laneCount] += x[j];
  }
  const inverse = float(1 / foldLanes(laneSums));
  for (let j = 0; j < count; ++j) x[j] *= inverse;
}

// LayerNorm of row `at` of x (d wide), or RMSNorm if there is no bias.
function normaliseRow(x, at, d, gain, bias, epsilon, y) {
  let mean = 0;
  if (bias) {
    const origin = x[at];
    laneSums.fill(0);
    for (let j = 0; j < d; ++j) laneSums[j % laneCount] += float(x[at + j] - origin);
    mean = float(origin + float(foldLanes(laneSums) / d));
  }
  laneSums.fill(0);
  for (let j = 0; j < d; ++j) {
    const centred = float(x[at + j] - mean), l = j % laneCount;
    laneSums[l] += float(centred * centred);
  }
  const variance = float(foldLanes(laneSums) / d);
  const inverse = float(1 / float(Math.sqrt(float(variance + float(epsilon)))));
  for (let j = 0; j < d; ++j) {
    const unit = float(float(x[at + j] - mean) * inverse);
    y[at + j] = bias ? float(unit * gain[j]) + bias[j] : unit * gain[j];
  }
}

// The error function, by a series of positive terms; from 4 on it is 1 as a float.
function erf(x) {
  if (Math.abs(x) >= 4) return Math.sign(x);
  let term = x, sum = x;
  for (let n = 1; Math.abs(term) > 1e-10 * Math.abs(sum); ++n) {
    term *= 2 * x * x / (2 * n + 1);
    sum += term;
  }
  return 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;
}

const sigmoid = (x) => float(1 / float(1 + exponential(x < -88 ? 88 : -x, separate)));
const gelu = (x) => 0.5 * x * float(1 + float(erf(float(x * rootHalf))));
const silu = (x) => x * sigmoid(x);
const [rootHalf, tanhFactor, tanhCube, sigmoidFactor] =
  [Math.SQRT1_2, 1.5957691216057308, 0.044715, 1.702].map(float);
const geluTanh = (x) => x * sigmoid(float(float(tanhFactor * x)
  * separate(float(tanhCube * x), x, 1)));
// The activations of tx-paper(7); of gated ones, those of the gate.
const activations = {
  relu: (x) => (x <= 0 ? 0 : x),
  gelu,
  'gelu-tanh': geluTanh,
  'gelu-sigmoid': (x) => x * sigmoid(float(sigmoidFactor * x)),
  silu,
  swiglu: silu,
  geglu: gelu,
  'geglu-tanh': geluTanh,
};

// The activations of a product with 8-bit weights: each row divided by its largest magnitude / 127
// and rounded to the nearest integer, halves to even (kernels/int8.h).
const integerRounder = 6755399441055744;  // 1.5 * 2^52
function quantiseRow(x, at, count, q, to) {
  let largest = 0;
  for (let i = 0; i < count; ++i) {
    const size = Math.abs(x[at + i]);
    if (!(size <= largest)) largest = size;
  }
  const factor = largest < 1e-30 || !(largest < Infinity) ? 0 : float(127 / largest);
  for (let i = 0; i < count; ++i) {
    q[to + i] = factor === 0 ? 0 : float(x[at + i] * factor) + integerRounder - integerRounder;
  }
  return factor === 0 && largest < Infinity ? 0 : float(largest / 127);
}

// y = x w^T + bias, for up to four rows of x at a time. A matrix of weights is { rows, cols,
// stride, scales, q } or { rows, cols, stride, data }; `stride` is the distance of its rows in
// elements.
class Products {
  // Copies the matrices of `weights` into the memory of the vector products.
  constructor(weights) {
    const matrices = [...weights].filter(([name, { rows }]) => (
      rows > 1 && !name.endsWith('.positions.weight'))).map(([, w]) => w);
    const longest = (key) => Math.max(...matrices.map((w) => w[key]));
    const up = (n, to) => Math.ceil(n / to) * to;
    const xBytes = 16 * up(longest('cols'), 16), yBytes = 16 * longest('rows');
    let bytes = up(xBytes + yBytes, 64);
    for (const w of matrices) {
      w.stride = up(w.cols, w.q ? 16 : 8);
      w.at = bytes;
      bytes += up(w.rows * w.stride * (w.q ? 1 : 4), 64);
    }
    this.vectors = vectorProducts(bytes);
    const buffer = this.vectors?.memory.buffer ?? new ArrayBuffer(xBytes + yBytes);
    this.q = new Int16Array(buffer, 0, xBytes / 2);
    this.x = new Float32Array(buffer, 0, xBytes / 4);
    this.sums = new Int32Array(buffer, xBytes, yBytes / 4);
    this.y = new Float32Array(buffer, xBytes, yBytes / 4);
    this.scales = new Float32Array(4);
    this.yAt = xBytes;
    for (const w of matrices) this.keep(w, buffer);
  }

  keep(w, buffer) {
    const { rows, cols, stride, at } = w, name = w.q ? 'q' : 'data';
    w.scales &&= w.scales.slice();
    if (!this.vectors) {
      w.stride = cols;
      return;
    }
    const from = w[name], to = new from.constructor(buffer, at, rows * stride);
    for (let r = 0; r < rows; ++r) to.set(from.subarray(r * cols, (r + 1) * cols), r * stride);
    w[name] = to;
  }

  run(x, rows, w, bias, y) {
    for (let first = 0; first < rows; first += 4) {
      const count = Math.min(4, rows - first);
      if (w.q) this.int8(x, first, count, w, bias, y);
      else this.float(x, first, count, w, bias, y);
    }
    return y;
  }

  int8(x, first, count, w, bias, y) {
    const { rows: outputs, cols, stride, scales } = w, { sums } = this;
    for (let r = 0; r < count; ++r) {
      this.scales[r] = quantiseRow(x, (first + r) * cols, cols, this.q, r * stride);
    }
    if (this.vectors) {
      this.vectors.integer[count - 1](w.at, 0, this.yAt, outputs, stride, 2 * stride, 4 * outputs);
    } else {
      Products.plain(this.q, count, w, w.q, sums);
    }
    for (let r = 0; r < count; ++r) {
      const scale = this.scales[r], from = r * outputs, to = (first + r) * outputs;
      for (let j = 0; j < outputs; ++j) {
        const product = float(float(sums[from + j]) * float(scale * scales[j]));
        y[to + j] = bias ? product + bias[j] : product;
      }
    }
  }

  float(x, first, count, w, bias, y) {
    const { rows: outputs, cols, stride } = w;
    this.x.fill(0, 0, count * stride);
    for (let r = 0; r < count; ++r) {
      this.x.set(x.subarray((first + r) * cols, (first + r + 1) * cols), r * stride);
    }
    if (this.vectors) {
      this.vectors.float[count - 1](w.at, 0, this.yAt, outputs, 4 * stride, 4 * stride,
        4 * outputs);
    } else {
      Products.plain(this.x, count, w, w.data, this.y);
    }
    for (let r = 0; r < count; ++r) {
      const from = r * outputs, to = (first + r) * outputs;
      for (let j = 0; j < outputs; ++j) y[to + j] = this.y[from + j] + (bias ? bias[j] : 0);
    }
  }

  // What the vector products compute.
  static plain(x, count, { rows: outputs, stride }, weights, sums) {
    for (let r = 0; r < count; ++r) {
      for (let j = 0; j < outputs; ++j) {
        let sum = 0;
        for (let i = 0, a = r * stride, b = j * stride; i < stride; ++i) {
          sum += x[a + i] * weights[b + i];
        }
        sums[r * outputs + j] = sum;
      }
    }
  }
}

// The dot products of attention add in the order of their kernel: attention.cpp (a whole sentence)
// from the first to the last; attention_cached.cpp (a row of a bf16 cache) 32 elements at a time
// over 16 partial sums, whose neighbours are added first, then the rest as single values.
function dotInOrder(x, a, y, b, d) {
  let sum = 0;
  for (let l = 0; l < d; ++l) sum = fused(x[a + l], y[b + l], sum);
  return sum;
}
function dotInLanes(x, a, y, b, d) {
  const part = laneSums, whole = d - d % 32;
  part.fill(0);
  for (let i = 0; i < whole; i += 32) {
    for (let l = 0; l < 32; ++l) part[l >> 1] += x[a + i + l] * y[b + i + l];
  }
  for (let left = laneCount; left > 1; left /= 2) {
    for (let l = 0; l < left / 2; ++l) part[l] = part[2 * l] + part[2 * l + 1];
  }
  let sum = part[0];
  for (let l = whole; l < d; ++l) sum = separate(x[a + l], y[b + l], sum);
  return sum;
}

// log softmax of row `at` of x, in place.
function logSoftmax(x, at, count, temperature) {
  if (temperature !== 1) for (let j = 0; j < count; ++j) x[at + j] /= temperature;
  let max = -Infinity;
  for (let j = 0; j < count; ++j) if (x[at + j] > max) max = x[at + j];
  let sum = 0;
  for (let j = 0; j < count; ++j) sum += Math.exp(x[at + j] - max);
  const logSum = float(max + float(Math.log(sum)));
  for (let j = 0; j < count; ++j) x[at + j] -= logSum;
}

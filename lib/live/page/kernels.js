// The arithmetic of the engine. Matrices are row-major Float32Arrays. Sums have the order and the
// roundings of the CPU kernels (kernels/cpu), which round a product and a sum once, together. 8-bit
// models therefore give the same tokens as tx-decode --precision int8: one flipped rounding of an
// activation would change all that follows.
const float = Math.fround;
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

// exp of a float as the kernels compute it: 2^k times a polynomial of degree 6; 0 below -87.
const expCoefficients = [8.36874545e-3, 4.1668389e-2, 1.66665211e-1, 0.49999994, 1, 1].map(float);
const expLeading = float(1.38145406e-3);
const log2e = float(1.44269504088896), ln2High = float(0.693359375), ln2Low = float(2.12194440e-4);
const floatRounder = 12582912;  // 1.5 * 2^23: a float near it has no fraction
function exponential(x) {
  if (x < -87) return 0;
  const k = float(float(x * log2e + floatRounder) - floatRounder);
  const r = float(float(x - k * ln2High) + k * ln2Low);
  let p = expLeading;
  for (let i = 0; i < 6; ++i) p = float(p * r + expCoefficients[i]);
  return float(p * 2 ** k);
}

// Softmax of x[0 .. count) times scale, in place.
function softmax(x, count, scale) {
  let max = -Infinity;
  for (let j = 0; j < count; ++j) if (x[j] > max) max = x[j];
  laneSums.fill(0);
  for (let j = 0; j < count; ++j) {
    x[j] = exponential(float(float(x[j] - max) * scale));
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
    laneSums[l] = laneSums[l] + centred * centred;
  }
  const variance = float(foldLanes(laneSums) / d);
  const inverse = float(1 / float(Math.sqrt(float(variance + float(epsilon)))));
  for (let j = 0; j < d; ++j) {
    const unit = float(float(x[at + j] - mean) * inverse);
    y[at + j] = bias ? unit * gain[j] + bias[j] : unit * gain[j];
  }
}

// The error function, with an error below 1.2e-7 (Press et al., Numerical Recipes, section 6.2).
const erfcCoefficients = [-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807,
  -1.13520398, 1.48851587, -0.82215223, 0.17087277];
function erf(x) {
  const z = Math.abs(x), t = 1 / (1 + 0.5 * z);
  let sum = 0;
  for (let i = 9; i >= 0; --i) sum = sum * t + erfcCoefficients[i];
  const erfc = t * Math.exp(sum - z * z);
  return x >= 0 ? 1 - erfc : erfc - 1;
}

const sigmoid = (x) => 1 / (1 + Math.exp(-x));
const gelu = (x) => 0.5 * x * (1 + erf(x * Math.SQRT1_2));
// The activations of tx-paper(7). Of swiglu and geglu, those of the gate.
const activations = {
  relu: (x) => (x <= 0 ? 0 : x),
  gelu,
  'gelu-tanh': (x) => x * sigmoid(1.5957691216057308 * x * (1 + 0.044715 * x * x)),
  'gelu-sigmoid': (x) => x * sigmoid(1.702 * x),
  silu: (x) => x * sigmoid(x),
  swiglu: (x) => x * sigmoid(x),
  geglu: gelu,
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
    q[to + i] = factor === 0 ? 0 : x[at + i] * factor + integerRounder - integerRounder;
  }
  return factor === 0 && largest < Infinity ? 0 : float(largest / 127);
}

// y = x w^T + bias for `rows` rows of x; w is { rows, cols, q, scales } or { rows, cols, data }.
class Products {
  constructor() {
    this.q = new Int8Array(0);
    this.scales = new Float32Array(0);
  }

  run(x, rows, w, bias, y) {
    if (w.q) this.int8(x, rows, w, bias, y);
    else Products.float(x, rows, w, bias, y);
    return y;
  }

  static float(x, rows, { rows: outputs, cols, data }, bias, y) {
    for (let r = 0; r < rows; ++r) {
      const at = r * cols;
      for (let j = 0; j < outputs; ++j) {
        const w = j * cols;
        let a = 0, b = 0, c = 0, d = 0, i = 0;
        for (; i + 3 < cols; i += 4) {
          a += data[w + i] * x[at + i];
          b += data[w + i + 1] * x[at + i + 1];
          c += data[w + i + 2] * x[at + i + 2];
          d += data[w + i + 3] * x[at + i + 3];
        }
        for (; i < cols; ++i) a += data[w + i] * x[at + i];
        y[r * outputs + j] = a + b + (c + d) + (bias ? bias[j] : 0);
      }
    }
  }

  int8(x, rows, w, bias, y) {
    const { rows: outputs, cols, q: weights, scales } = w;
    if (this.q.length < rows * cols) this.q = new Int8Array(2 * rows * cols);
    if (this.scales.length < rows) this.scales = new Float32Array(2 * rows);
    const { q } = this;
    for (let r = 0; r < rows; ++r) this.scales[r] = quantiseRow(x, r * cols, cols, q, r * cols);
    const finish = (r, j, sum) => {
      const product = float(sum) * float(this.scales[r] * scales[j]);
      y[r * outputs + j] = bias ? product + bias[j] : product;
    };
    let first = 0;
    for (; first + 3 < rows; first += 4) {  // four rows share each load of a weight
      const a0 = first * cols, b0 = a0 + cols, c0 = b0 + cols, d0 = c0 + cols;
      for (let j = 0; j < outputs; ++j) {
        const at = j * cols;
        let a = 0, b = 0, c = 0, d = 0;
        for (let i = 0; i < cols; ++i) {
          const weight = weights[at + i];
          a = (a + Math.imul(weight, q[a0 + i])) | 0;
          b = (b + Math.imul(weight, q[b0 + i])) | 0;
          c = (c + Math.imul(weight, q[c0 + i])) | 0;
          d = (d + Math.imul(weight, q[d0 + i])) | 0;
        }
        finish(first, j, a);
        finish(first + 1, j, b);
        finish(first + 2, j, c);
        finish(first + 3, j, d);
      }
    }
    for (; first < rows; ++first) {
      const row = first * cols;
      for (let j = 0; j < outputs; ++j) {
        const at = j * cols;
        let sum = 0;
        for (let i = 0; i < cols; ++i) {
          sum = (sum + Math.imul(weights[at + i], q[row + i])) | 0;
        }
        finish(first, j, sum);
      }
    }
  }
}

// The dot products of attention add in the order of their kernel: attention.cpp (a whole sentence)
// from the first to the last; attention_cached.cpp (a row of a bf16 cache) 32 elements at a time
// over 16 partial sums, whose neighbours are added first.
function dotInOrder(x, a, y, b, d) {
  let sum = 0;
  for (let l = 0; l < d; ++l) sum = float(sum + x[a + l] * y[b + l]);
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
  for (let l = whole; l < d; ++l) sum = float(sum + x[a + l] * y[b + l]);
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

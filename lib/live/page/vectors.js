// The inner loop of matrix products as WebAssembly with vectors of 16 bytes, 20 times as fast as
// JavaScript. This file assembles the module: instructions are arrays of bytes.
const vectorProducts = (() => {
  function unsigned(n) {  // LEB128
    const bytes = [];
    for (let left = n; ; left >>>= 7) {
      if (left < 128) return [...bytes, left];
      bytes.push((left & 127) | 128);
    }
  }
  const vector = (code, ...more) => [0xfd, ...unsigned(code), ...more];
  const get = (local) => [0x20, ...unsigned(local)];
  const set = (local) => [0x21, ...unsigned(local)];
  const add = (local, bytes) => [...get(local), 0x41, bytes, 0x6a, ...set(local)];  // below 64
  const section = (number, content) => [number, ...unsigned(content.length), ...content];
  const list = (items) => [...unsigned(items.length), ...items.flat()];

  // Of 8-bit weights and 16-bit activations, and of fp32: bytes of weights and of activations per
  // vector; loads, product, sum and extraction of a lane; scalar sum and store.
  const integers = { step: 8, wide: 16, load: 0x01, multiply: 0xba, add: 0xae, lane: 0x1b,
    sum: 0x6a, store: 0x36 };
  const floats = { step: 16, wide: 16, load: 0x00, multiply: 0xe6, add: 0xe4, lane: 0x1f,
    sum: 0x92, store: 0x38 };

  // (w, x, y, outputs, weightBytes, activationBytes, step): y[r][j] = row r of x times row j of w,
  // for `rows` rows of x that are activationBytes apart. Rows of w have weightBytes, a multiple of two
  // vectors; rows of y are `step` bytes apart. Pointers are in bytes.
  function productOf(kind, rows) {
    const [w, x, y, outputs, weightBytes, activationBytes, step, end, to] = Array(9).keys();
    const at = (r) => 9 + r, weights = 9 + rows, sum = (r) => 10 + rows + r;
    const body = [];
    const put = (...code) => body.push(...code.flat());
    put([0x03, 0x40]);  // loop over outputs
    for (let r = 0; r < rows; ++r) {
      put(vector(0x0c, ...Array(16).fill(0)), set(sum(r)));
      put(r ? [...get(at(r - 1)), ...get(activationBytes), 0x6a] : get(x), set(at(r)));
    }
    put(get(w), get(weightBytes), [0x6a], set(end));
    put([0x03, 0x40]);  // loop over inputs
    for (let half = 0; half < 2; ++half) {
      put(get(w), vector(kind.load, 0, half * kind.step), set(weights));
      for (let r = 0; r < rows; ++r) {
        put(get(at(r)), vector(0x00, 0, half * kind.wide), get(weights), vector(kind.multiply));
        put(get(sum(r)), vector(kind.add), set(sum(r)));
      }
    }
    for (let r = 0; r < rows; ++r) put(add(at(r), 2 * kind.wide));
    put(add(w, 2 * kind.step), get(w), get(end), [0x49, 0x0d, 0, 0x0b]);  // while w < end
    put(get(y), set(to));
    for (let r = 0; r < rows; ++r) {
      put(get(to));
      for (let lane = 0; lane < 4; ++lane) {
        put(get(sum(r)), vector(kind.lane, lane), lane ? [kind.sum] : []);
      }
      put([kind.store, 2, 0], get(to), get(step), [0x6a], set(to));
    }
    put(add(y, 4), get(outputs), [0x41, 1, 0x6b], [0x22, outputs], [0x0d, 0, 0x0b, 0x0b]);
    const locals = list([[...unsigned(2 + rows), 0x7f], [...unsigned(1 + rows), 0x7b]]);
    return [...unsigned(locals.length + body.length), ...locals, ...body];
  }

  // { memory, integer: [f], float: [f] }, where f[n] multiplies n + 1 rows, n < 4; null without
  // WebAssembly. `bytes`: the size of the memory.
  return (bytes) => {
    const rows = [1, 2, 3, 4], number = 2 * rows.length;
    const bodies = [...rows.map((n) => productOf(integers, n)),
      ...rows.map((n) => productOf(floats, n))];
    const name = (text) => list([...text].map((c) => [c.charCodeAt(0)]));
    const code = Uint8Array.from([0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
      ...section(1, list([[0x60, 7, ...Array(7).fill(0x7f), 0]])),  // the type
      ...section(2, list([[...name('e'), ...name('m'), 2, 0, 1]])),  // the memory
      ...section(3, list(Array(number).fill([0]))),
      ...section(7, list(bodies.map((_, i) => [...name(`f${i}`), 0, i]))),
      ...section(10, list(bodies))]);
    try {
      const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / 65536) });
      const module = new WebAssembly.Module(code);
      const { exports } = new WebAssembly.Instance(module, { e: { m: memory } });
      const all = bodies.map((_, i) => exports[`f${i}`]);
      return { memory, integer: all.slice(0, 4), float: all.slice(4) };
    } catch {
      return null;  // an old browser, or too little memory
    }
  };
})();

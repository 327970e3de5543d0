// Collects the values of one layer for one row: { kind: 'encoder', 'decoder' or 'cross', layer,
// head, query: the row }.
class Probe {
  constructor(engine, changes, place) {
    Object.assign(this, { engine, changes, ...place, offset: 0, found: {} });
    this.stack = this.kind === 'encoder' ? 'encoder' : 'decoder';
    this.subLayer = this.kind === 'cross' ? 'cross_attn' : 'self_attn';
  }

  // The rows of the next pass begin with row `offset` of the sequence.
  from(offset) { return Object.assign(Object.create(this), { offset }); }

  row(layer, subLayer, value, array, rows) {
    const r = this.query - this.offset;
    if (layer.name !== `${this.stack}.${this.layer}` || r < 0 || r >= rows) return;
    if (subLayer !== this.subLayer && subLayer !== 'ffn') return;
    const width = array.length / rows;
    this.found[value] = array.slice(r * width, (r + 1) * width);
  }

  weights(layer, kind, head, r, list, weights, cache) {
    if (kind !== this.kind || layer.index !== this.layer || head !== this.head) return;
    if (r !== this.query - this.offset) return;
    this.found.weights = [list, weights.slice(0, list.length)];
    this.found.cache = cache;
  }

  result() {
    const { kind, layer, head, query, found, engine } = this;
    if (!found.weights) throw new Error(`there is no row ${query} of ${kind}.${layer}.${head}`);
    const { d_k: dk, d_v: dv } = engine.config;
    const { cache } = found, [list, weights] = found.weights, keys = cache.rows;
    const { scale, slope, temperature } = engine.scaling(kind, head, this.changes);
    const at = engine.keyHead(head);
    const slices = (array, width, size) => {
      const out = new Float32Array(keys * size);
      for (let j = 0; j < keys; ++j) {
        const from = j * width + at * size;
        out.set(array.subarray(from, from + size), j * size);
      }
      return out;
    };
    const q = found.q.slice(head * dk, (head + 1) * dk);
    const k = slices(cache.k, cache.keyWidth, dk), v = slices(cache.v, cache.valueWidth, dv);
    const scores = Float32Array.from({ length: keys }, (_, j) => dotInOrder(q, 0, k, j * dk, dk));
    const scaled = scores.map((score) => score * scale);
    const biased = scaled.map((score, j) => score - slope * Math.abs(query - cache.positions[j]));
    const visible = new Set(list);
    const masked = biased.map((score, j) => (visible.has(j) ? score : -Infinity));
    const spread = new Float32Array(keys);
    list.forEach((key, j) => { spread[key] = weights[j]; });
    const values = { x: found.x, normed: found.normed, q, k, v, scores, scaled,
      biased: slope ? biased : undefined, masked,
      tempered: temperature !== 1 ? masked.map((score) => score / temperature) : undefined,
      weights: spread, head: found.joined.slice(head * dv, (head + 1) * dv), joined: found.joined,
      projected: found.projected, residual: found.residual, norm: found.norm, ffn_x: found.ffn_x,
      ffn_normed: found.ffn_normed, gate: found.gate, inner: found.inner,
      activated: found.activated, ffn_out: found.ffn_out, ffn_residual: found.ffn_residual,
      output: found.output };
    const shaped = {};
    for (const [name, data] of Object.entries(values)) {
      if (!data) continue;
      const shape = name === 'k' ? [keys, dk] : name === 'v' ? [keys, dv] : [data.length];
      shaped[name] = { shape, data };
    }
    return { kind, layer, head, query, keys, values: shaped };
  }
}

// The positions of a configuration: tables of sinusoids and of rotary angles, and slopes of ALiBi,
// the same as lib/model/positions.cpp.
class Positions {
  constructor(config) {
    this.config = config;
    this.rows = new Map();
  }

  // The row of a table, computed once per position.
  tableRow(position, compute) {
    if (!this.rows.has(position)) this.rows.set(position, Float32Array.from(compute()));
    return this.rows.get(position);
  }

  // PE(position): the paper's sinusoids, or sines before cosines.
  sinusoid(position) {
    const { d_model: d, positions: layout, position_offset: offset } = this.config;
    return this.tableRow(position, () => {
      const row = new Float64Array(d), half = Math.floor(d / 2);
      const last = layout === 'fairseq' ? half - 1 : half;
      for (let i = 0; i < half; ++i) {
        const angle = (position + offset) / (i ? 10000 ** (i / last) : 1);
        const [sine, cosine] = layout === 'sinusoid' ? [2 * i, 2 * i + 1] : [i, half + i];
        row[sine] = Math.sin(angle);
        row[cosine] = Math.cos(angle);
      }
      return row;
    });
  }

  // Cosines, then sines, of a position's angles.
  rotary(position) {
    const { config } = this, half = config.d_k / 2;
    this.frequencies ??= Positions.rotaryFrequencies(config);
    return this.tableRow(position, () => Array.from({ length: 2 * half }, (_, i) => {
      const angle = position * this.frequencies[i % half];
      return i < half ? Math.cos(angle) : Math.sin(angle);
    }));
  }

  static rotaryFrequencies(c) {
    const longer = c.rotary_scaling === 'ntk' ? c.rotary_factor ** (c.d_k / (c.d_k - 2)) : 1;
    const base = c.rotary_base * longer;
    return Array.from({ length: c.d_k / 2 }, (_, i) => {
      const frequency = base ** (-2 * i / c.d_k);
      if (c.rotary_scaling === 'linear') return frequency / c.rotary_factor;
      if (c.rotary_scaling !== 'llama3') return frequency;
      const periods = c.rotary_length * frequency / (2 * Math.PI);
      const kept = (periods - c.rotary_low) / (c.rotary_high - c.rotary_low);
      if (kept >= 1) return frequency;
      if (kept <= 0) return frequency / c.rotary_factor;
      return (1 - kept) * frequency / c.rotary_factor + kept * frequency;
    });
  }

  // ALiBi: by how much a score of this head falls per token of distance.
  slope(head) {
    let power = 1;
    while (2 * power <= this.config.heads) power *= 2;
    const exponent = head < power ? 8 * (head + 1) / power
      : 4 * (2 * (head - power) + 1) / power;
    return 2 ** -exponent;
  }
}

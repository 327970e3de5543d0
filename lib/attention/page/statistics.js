// The statistics of the heads over the sentences of the page, which the tool computed: a table that
// sorts by the column clicked, and the distance of each pair of heads of one kind. Clicking a row
// opens its head.

const figureTitles = {
  entropy: 'entropy of a row, in nats: 0 where all weight is on one key',
  distance: 'mean distance to the attended positions',
  previous: 'weight on the position before the row',
  self: 'weight on the row\u2019s own position',
  next: 'weight on the position after the row',
  first: 'weight on the first position',
  eos: 'weight on the end of the sentence',
  punctuation: 'weight on punctuation',
  confidence: 'largest weight of a row (Voita et al. 2019)',
  equal: 'weight on other positions with the row\u2019s token',
  induction: 'weight on positions after an earlier occurrence of the row\u2019s token (decoder)',
};

// Figures that say nothing about a kind of attention: cross-attention is between two texts, whose
// positions do not correspond; the text that a decoder reads has no end.
const meaningless = {
  encoder: ['induction'],
  decoder: ['eos'],
  cross: ['previous', 'self', 'next', 'induction'],
};

// Jensen-Shannon distances of all heads of a kind: a symmetric map, as fractions of the maximum.
function distanceMap(kindPlace) {
  const count = data.kinds[kindPlace].layers.length * data.heads.length;
  const shares = sharesOf(data.statistics.distances[kindPlace]);
  const values = new Float32Array(count * count);
  let next = 0;
  for (let a = 0; a < count; ++a) {
    for (let b = a + 1; b < count; ++b) {
      values[a * count + b] = values[b * count + a] = shares[next++];
    }
  }
  return new AttentionMap(count, count, values);
}

class StatisticsView {
  constructor(page) {
    this.page = page;
    this.sorted = { figure: null, descending: true };
  }

  draw() {
    const { heads, lines } = data.statistics;
    const kind = data.kinds[this.page.kindPlace];
    const figures = Object.keys(heads[0]).filter((name) => name in figureTitles &&
      !meaningless[kind.kind].includes(name) && (name !== 'eos' || hasBoth));
    const rows = heads.filter((head) => head.kind === kind.kind);
    const { figure, descending } = this.sorted;
    if (figure) rows.sort((a, b) => (descending ? -1 : 1) * (a[figure] - b[figure]));
    const largest = Object.fromEntries(figures.map((name) =>
      [name, Math.max(...rows.map((head) => Math.abs(head[name]))) || 1]));
    return [element('div', { class: 'scroll' }, element('table', { class: 'statistics',
      id: 'statistics' },
      element('tr', {}, element('th', {}, 'layer'), element('th', {}, 'head'),
        figures.map((name) => element('th', { 'aria-sort': name !== figure ? 'none'
          : descending ? 'descending' : 'ascending' }, this.sorter(name)))),
    rows.map((row) => this.row(row, kind, figures, largest)))),
    element('p', { class: 'soft' }, `Means over all rows of ${lines} `,
      lines === 1 ? 'sentence' : 'sentences', ', computed on tokens; see tx-attn-dump(1). ',
      'A bar is relative to the largest figure of its column. ',
      'Click a name to sort, a row to show the head.'),
    this.distances()];
  }

  distances() {
    const { page } = this;
    const { layers } = data.kinds[page.kindPlace];
    const map = distanceMap(page.kindPlace);
    if (map.rows < 2) return null;
    const largest = map.largest() || 1;
    const canvas = paint(map, largest);
    const cell = Math.max(3, Math.min(26, Math.floor((Math.min(page.width, 640) - 80) / map.rows)));
    const side = cell * map.rows;
    const at = cell >= 16 ? 34 : 64;
    const attributes = { id: 'distances', role: 'img',
      'aria-label': `distances between ${map.rows} heads`,
      style: `left:${at}px;top:${at}px;width:${side}px;height:${side}px` };
    for (const [key, value] of Object.entries(attributes)) canvas.setAttribute(key, value);
    const name = (place) => `layer ${layers[Math.floor(place / data.heads.length)]}, ` +
      `head ${data.heads[place % data.heads.length]}`;
    canvas.addEventListener('pointermove', (event) => {
      const box = canvas.getBoundingClientRect();
      const place = (at) => Math.min(map.rows - 1, Math.max(0, Math.floor(at / side * map.rows)));
      const a = place(event.clientY - box.top);
      const b = place(event.clientX - box.left);
      page.say(`${name(a)} and ${name(b)}: distance ${
        decimal(map.at(a, b) * Math.sqrt(Math.LN2), 3)}`);
    });
    canvas.addEventListener('pointerleave', () => page.say(''));
    const most = decimal(largest * Math.sqrt(Math.LN2), 3);
    return [element('h2', {}, 'Distances between heads'),
      element('div', { class: 'matrix', id: 'distance-map' },
        this.distanceLabels(layers, cell, at, side), canvas),
      element('p', { class: 'soft' }, colourScale(), ` ${most}: Jensen-Shannon distance of each `,
        'pair, mean over all rows, 0 for identical heads and at most 0.833. Rows and columns are ',
        cell >= 16 ? 'LAYER.HEAD' : 'the heads of each layer',
        '; blocks of small distances are heads with similar attention. ',
        'Hover over a pair to read it.')];
  }

  // LAYER.HEAD at each row and column or, if they are too small, the layers.
  distanceLabels(layers, cell, at, side) {
    const heads = data.heads.length;
    const labels = layers.flatMap((layer, i) => (cell >= 16 ? data.heads.map((head, j) =>
      [i * heads + j + 0.5, `${layer}.${head}`]) : [[(i + 0.5) * heads, `layer ${layer}`]]));
    const rules = layers.map((_, i) => at + i * heads * cell);
    return element('svg', { width: at + side + 24, height: at + side + 4, 'aria-hidden': 'true' },
      labels.map(([place, label]) => {
        const centre = at + place * cell;
        return [element('text', { x: at - 6, y: centre + 4, 'text-anchor': 'end',
          class: 'head-row' }, label),
        element('text', { transform: `translate(${centre + 4} ${at - 6}) rotate(-${
          cell >= 16 ? 60 : 45})` }, label)];
      }),
      rules.map((place) => element('path', { class: 'rule',
        d: `M${at - 5} ${place}h5M${place} ${at - 5}v5` })));
  }

  sorter(name) {
    const { figure, descending } = this.sorted;
    const arrow = figure !== name ? '' : descending ? ' \u25be' : ' \u25b4';
    return element('button', { type: 'button', title: figureTitles[name], id: `sort-${name}`,
      onclick: () => {
        this.sorted = { figure: name, descending: figure !== name || !descending };
        this.page.draw();
      } }, name + arrow);
  }

  row(row, kind, figures, largest) {
    const { page } = this;
    const layer = kind.layers.indexOf(String(row.layer));
    const head = data.heads.indexOf(String(row.head));
    const chosen = layer === page.layerPlace && page.heads.includes(head);
    return element('tr', { 'data-head': `${row.layer}.${row.head}`, class: chosen ? 'chosen' : '',
      onclick: () => page.open(layer, head) },
    element('td', {}, row.layer), element('td', {}, element('button', { type: 'button',
      'aria-label': `show layer ${row.layer}, head ${row.head}` }, row.head)),
    figures.map((name) => element('td', { class: name },
      element('svg', { class: 'weight-bar', width: 34, height: 9, 'aria-hidden': 'true' },
        element('rect', { height: 9,
          width: ((34 * Math.abs(row[name])) / largest[name]).toFixed(1) })),
      decimal(row[name], 3))));
  }
}

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
    const figures = Object.keys(heads[0]).filter((name) => name in figureTitles);
    const rows = heads.filter((head) => head.kind === kind.kind);
    const { figure, descending } = this.sorted;
    if (figure) rows.sort((a, b) => (descending ? -1 : 1) * (a[figure] - b[figure]));
    const largest = Object.fromEntries(figures.map((name) =>
      [name, Math.max(...heads.map((head) => Math.abs(head[name]))) || 1]));
    return [element('table', { class: 'statistics', id: 'statistics' },
      element('tr', {}, element('th', {}, 'layer'), element('th', {}, 'head'),
        figures.map((name) => element('th', {}, this.sorter(name)))),
      rows.map((row) => this.row(row, kind, figures, largest))),
    element('p', { class: 'soft' }, `Means over all rows of ${lines} `,
      lines === 1 ? 'sentence' : 'sentences', ', computed on tokens; see tx-attn-dump(1). ',
      'Click a name to sort, a row to show the head.'),
    this.distances()];
  }

  distances() {
    const { page } = this;
    const { layers } = data.kinds[page.kindPlace];
    const map = distanceMap(page.kindPlace);
    if (map.rows < 2) return null;
    const canvas = paint(map, 1);
    canvas.id = 'distances';
    const side = Math.max(160, Math.min(480, 24 * map.rows));
    canvas.setAttribute('style', `width:${side}px;height:${side}px`);
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
    return [element('h2', {}, 'Distances between heads'), canvas,
      element('p', { class: 'soft' }, 'Jensen-Shannon distance of each pair, mean over all rows: ',
        'from 0 (identical) to 0.833. Rows and columns are the heads, ordered by layer; ',
        'blocks are heads with similar attention. Hover over a pair to read it.')];
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
    element('td', {}, row.layer), element('td', {}, row.head),
    figures.map((name) => element('td', { class: name }, decimal(row[name], 3),
      element('svg', { class: 'weight-bar', width: 40, height: 9 }, element('rect', {
        width: ((40 * Math.abs(row[name])) / largest[name]).toFixed(1), height: 9 })))));
  }
}

// All layers and heads of one kind side by side: a small map for each, which opens when clicked.

class GridView {
  constructor(page) {
    this.page = page;
  }

  draw() {
    const { page } = this;
    const { layers } = data.kinds[page.kindPlace];
    const room = page.width - 70;
    const width = Math.max(36, Math.min(120, Math.floor(room / data.heads.length) - 16));
    const head = element('tr', {}, element('td'),
      data.heads.map((name) => element('th', {}, width < 60 ? name : `head ${name}`)));
    const rows = layers.map((name, layer) => element('tr', {},
      element('th', { class: 'text' }, `layer ${name}`),
      data.heads.map((_, place) => element('td', {}, this.small(layer, place, width)))));
    return [element('table', { class: 'grid', id: 'grid' }, head, rows),
      element('p', { class: 'soft' },
        'Rows attend to columns. Each map has its own colour scale. ',
        'Click a map to enlarge it.')];
  }

  small(layer, head, width) {
    const { page } = this;
    const map = page.sentence.map(page.kindPlace, layer, head, page.byWords);
    const canvas = paint(map, map.largest() || 1);
    const height = Math.max(24, Math.min(1.5 * width, (width * map.rows) / map.columns));
    canvas.setAttribute('style', `width:${width}px;height:${Math.round(height)}px`);
    const chosen = layer === page.layerPlace && page.heads.includes(head);
    const label = `layer ${data.kinds[page.kindPlace].layers[layer]}, head ${data.heads[head]}`;
    return element('button', {
      type: 'button', class: 'small', id: `grid-${layer}-${head}`, 'aria-label': label,
      'aria-pressed': String(chosen), title: `${label}: largest weight ${decimal(map.largest())}`,
      onclick: () => page.open(layer, head),
      onpointerenter: () => page.say(`${label}: largest weight ${decimal(map.largest())}`),
    }, canvas);
  }
}

// The attention of all heads as small maps, and one of them large.

// What LinesView and MatrixView (lib/attention/page) draw: one head of a result.
class HeadDrawing {
  constructor(page, result, width) {
    Object.assign(this, { page, result, width });
    this.kind = page.attentionKind;
    this.heads = [page.head];
    this.threshold = 0.03;
    this.full = true;
    this.said = element('p', { class: 'said', 'aria-live': 'polite' });
    this.sideNames = sidesOf(result, this.kind);
  }

  get query() { return this.page.query; }
  sides() {
    return { rows: { labels: this.sideNames.rows }, columns: { labels: this.sideNames.columns } };
  }
  map(head) { return mapOf(this.result, this.kind, this.page.layer, head); }
  shownMap() { return this.map(this.page.head); }
  rowName() { return this.kind === 'encoder' ? 'source' : 'predicted'; }
  columnName() { return this.kind === 'decoder' ? 'read' : 'source'; }
  title() { return this.page.placeName(); }
  pick(row) { this.page.state.set({ query: row === this.query ? '' : row, number: '' }); }
  say(text) { this.said.textContent = text || `${kindTexts[this.kind]}.`; }

  sayRow(row) {
    const weights = this.shownMap().row(row);
    const order = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, 3);
    return `\u201c${this.sideNames.rows[row]}\u201d attends most to ` + order.map((j) =>
      `\u201c${this.sideNames.columns[j]}\u201d ${decimal(weights[j], 3)}`).join(', ');
  }
  sayCell(row, column, weight) {
    return `\u201c${this.sideNames.rows[row]}\u201d \u2192 ` +
      `\u201c${this.sideNames.columns[column]}\u201d: ${decimal(weight, 4)}`;
  }

  // How to use the lines.
  hint() {
    return ['Point at a token on the left, the ', explained('query'), ', to see only its lines; ' +
      'press it to select it. On the right are the ', explained('key', 'keys'), '. '];
  }

  draw() {
    const View = this.page.state.get('drawing') === 'matrix' ? MatrixView : LinesView;
    const drawn = new View(this).draw();
    return [this.said, element('div', { class: 'scroll', tabindex: 0 }, drawn)];
  }
}

// Choices of attention, layer and head, shared by several views.
function drawPickers(page, id, ...more) {
  const { state } = page;
  const count = (n) => Array.from({ length: n }, (_, i) => String(i));
  const list = (key, name, numbers, chosen) => element('div', { class: 'field' },
    element('span', { class: 'name' }, explained(key, name)),
    element('select', { id: `${id}-${key}`, 'aria-label': name,
      onchange: (event) => state.set({ [key]: event.target.value }) },
    numbers.map((n) => element('option', { value: n, selected: n === String(chosen) }, n))));
  const kinds = page.kinds.length < 2 ? null : choice(`${id}-kind`, 'Attention',
    page.kinds.map((kind) => ({ value: kind, label: kind, title: kindTexts[kind] })),
    page.attentionKind, (kind) => state.set({ kind, query: '', number: '' }));
  if (kinds) replaceChildren(kinds.querySelector('.name'), explained('attention', 'Attention'));
  return element('div', { class: 'bar controls' }, kinds,
    list('layer', 'Layer', count(page.layers), page.layer),
    list('head', 'Head', count(page.config.heads), page.head), more);
}

function drawingChoice(page, id) {
  return choice(id, 'Show as', [{ value: 'lines', label: 'lines' },
    { value: 'matrix', label: 'matrix' }], page.state.get('drawing'),
  (drawing) => page.state.set({ drawing }));
}

class AttentionView {
  constructor(page) {
    this.page = page;
    this.pickers = element('div', {});
    this.heads = element('div', { id: 'heads' });
    this.drawing = element('div', { class: 'large' });
    this.node = element('div', {}, this.pickers,
      element('div', { class: 'columns heads' }, this.heads, this.drawing));
  }

  draw() {
    const { page } = this, { result } = page;
    rebuild(this.pickers, drawPickers(page, 'attention', drawingChoice(page, 'drawing')));
    redraw(this.heads, this.drawHeads(result));
    const width = Math.min(1150, Math.max(300, this.drawing.clientWidth - 4));
    rebuild(this.drawing, new HeadDrawing(page, result, width).draw());
  }

  drawHeads(result) {
    const { page } = this;
    const heads = Array.from({ length: page.config.heads }, (_, head) => head);
    const room = Math.min(330, this.heads.clientWidth - 84);
    const side = Math.max(26, Math.min(64, Math.floor(room / heads.length) - 14));
    return [element('div', { class: 'scroll', id: 'heads-scroll' }, element('table',
      { class: 'grid' },
      element('tr', {}, element('td'), heads.map((head) => element('th', {}, head))),
      Array.from({ length: page.layers }, (_, layer) => element('tr', {},
        element('th', { class: 'text' }, `layer ${layer}`),
        heads.map((head) => element('td', {}, this.small(result, layer, head, side))))))),
    element('p', { class: 'soft' }, 'One small map for each head: rows attend to columns. The ' +
      'stronger a colour differs from the background, the larger is the weight. Press a map to ' +
      'enlarge it.')];
  }

  small(result, layer, head, side) {
    const { page } = this;
    const map = mapOf(result, page.attentionKind, layer, head);
    const canvas = paint(map, map.largest() || 1);
    canvas.setAttribute('style', `width:${side}px;height:${side}px`);
    const off = page.isOff(layer, head);
    const label = `layer ${layer}, head ${head}${off ? ' (off)' : ''}`;
    return element('button', { type: 'button', class: `small${off ? ' off' : ''}`,
      id: `head-${layer}-${head}`, 'aria-label': label, title: label,
      'aria-pressed': String(layer === page.layer && head === page.head),
      onclick: () => page.state.set({ layer, head }) }, canvas);
  }
}

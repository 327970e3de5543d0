// The statistics of the heads over the whole text, as the tool counted them: a table that sorts by
// the column clicked. data.statistics: {columns: [{name, title}], heads: [{kind, layer, head,
// values}]}, layers and heads by name.

class StatisticsView {
  constructor(page) {
    this.page = page;
    this.sorted = { column: -1, descending: true };
  }

  draw() {
    const { page } = this;
    const { columns, heads } = data.statistics;
    const kind = data.kinds[page.kindPlace];
    const rows = heads.filter((row) => row.kind === kind.kind);
    if (this.sorted.column >= 0) {
      const sign = this.sorted.descending ? -1 : 1;
      rows.sort((a, b) => sign * (a.values[this.sorted.column] - b.values[this.sorted.column]));
    }
    const largest = columns.map((_, c) =>
      Math.max(...heads.map((row) => Math.abs(row.values[c] ?? 0))) || 1);
    return [element('table', { class: 'statistics', id: 'statistics' },
      element('tr', {}, element('th', {}, 'layer'), element('th', {}, 'head'),
        columns.map((column, c) => element('th', {}, this.sorter(column, c)))),
      rows.map((row) => this.row(row, kind, largest))),
    element('p', { class: 'soft' }, data.statistics.about)];
  }

  sorter(column, c) {
    const { sorted } = this;
    const arrow = sorted.column !== c ? '' : sorted.descending ? ' \u25be' : ' \u25b4';
    return element('button', { type: 'button', title: column.title, id: `sort-${c}`,
      onclick: () => {
        this.sorted = { column: c, descending: sorted.column !== c || !sorted.descending };
        this.page.draw();
      } }, column.name + arrow);
  }

  row(row, kind, largest) {
    const { page } = this;
    const layer = kind.layers.indexOf(row.layer);
    const head = data.heads.indexOf(row.head);
    const chosen = layer === page.layerPlace && page.heads.includes(head);
    return element('tr', { 'data-head': `${row.layer}.${row.head}`, class: chosen ? 'chosen' : '',
      onclick: () => page.open(layer, head) },
    element('td', {}, row.layer), element('td', {}, row.head),
    row.values.map((value, c) => element('td', {}, value === null ? '' : decimal(value, 3),
      element('svg', { class: 'weight-bar', width: 40, height: 9 }, element('rect', {
        width: ((40 * Math.abs(value ?? 0)) / largest[c]).toFixed(1), height: 9 })))));
  }
}

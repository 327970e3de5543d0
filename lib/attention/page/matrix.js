// One map as a matrix: rows attend to columns. Large cells also show their weight.

// Paints a map into a canvas with one pixel per cell; CSS scales it up.
function paint(map, largest) {
  const canvas = element('canvas', { width: map.columns, height: map.rows });
  const context = canvas.getContext('2d');
  const image = context.createImageData(map.columns, map.rows);
  map.values.forEach((weight, i) => {
    image.data.set([...shade(weight / largest), 255], 4 * i);
  });
  context.putImageData(image, 0, 0);
  return canvas;
}

// The colours of a map, from 0 on.
function colourScale() {
  const rising = Float32Array.from({ length: 64 }, (_, i) => i / 63);
  const bar = paint(new AttentionMap(1, 64, rising), 1);
  bar.className = 'scale';
  return ['0 ', bar];
}

class MatrixView {
  constructor(page) {
    this.page = page;
  }

  draw() {
    const { page } = this;
    this.map = page.shownMap();
    this.sides = page.sides();
    // Cells are as large as fits, but large enough for a label at each row and column.
    const room = page.width ?? 1150;
    this.letters = room < narrowDrawing ? 12 : 26;
    this.left = this.widest(this.sides.rows.labels);
    this.top = this.widest(this.sides.columns.labels) * 0.75 + 8;
    this.cell = Math.floor((room - this.left - 0.9 * this.top) / this.map.columns);
    this.cell = Math.max(12, Math.min(44, this.cell));
    const width = this.map.columns * this.cell;
    const height = this.map.rows * this.cell;
    this.largest = this.map.largest() || 1;
    const canvas = paint(this.map, page.full ? 1 : this.largest);
    canvas.setAttribute('style',
      `left:${this.left}px;top:${this.top}px;width:${width}px;height:${height}px`);
    this.svg = element('svg', {
      id: 'matrix', width: this.left + width + this.top, height: this.top + height + 8, role: 'img',
      'aria-label': `${page.title()}: matrix of ${this.map.rows} by ${this.map.columns}`,
    }, this.labels(), this.numbers(), this.cross());
    this.svg.addEventListener('pointermove', (event) => this.point(event));
    this.svg.addEventListener('pointerleave', () => this.mark(page.query, null));
    this.svg.addEventListener('click', (event) => this.click(event));
    this.mark(page.query, null);
    return [element('div', { class: 'matrix' }, canvas, this.svg), this.scale()];
  }

  widest(labels) {
    return 18 + 7.6 * Math.max(...labels.map((label) => Math.min(this.letters, [...label].length)));
  }

  labels() {
    const out = [];
    this.sides.rows.labels.forEach((label, i) => {
      out.push(element('text', {
        x: this.left - 8, y: this.top + (i + 0.5) * this.cell + 4, 'text-anchor': 'end',
        'data-row': i,
      }, shortened(label, this.letters)));
    });
    this.sides.columns.labels.forEach((label, j) => {
      const x = this.left + (j + 0.5) * this.cell + 2;
      out.push(element('text', {
        x, y: this.top - 8, transform: `rotate(-50 ${x} ${this.top - 8})`, 'data-column': j,
      }, shortened(label, this.letters)));
    });
    return element('g', { class: this.cell < 15 ? 'tight' : '' }, out);
  }

  numbers() {
    if (this.cell < 28) return null;
    const out = [];
    for (let i = 0; i < this.map.rows; ++i) {
      for (let j = 0; j < this.map.columns; ++j) {
        const weight = this.map.at(i, j);
        if (weight < 0.005) continue;
        const share = weight / (this.page.full ? 1 : this.largest);
        out.push(element('text', {
          x: this.left + (j + 0.5) * this.cell, y: this.top + (i + 0.5) * this.cell + 4,
          class: isDarkShade(share) ? 'number on-dark' : 'number on-light',
        }, this.cell >= 44 ? decimal(weight) : decimal(weight).replace(/^0|^(1)\.00/, '$1')));
      }
    }
    return element('g', { 'text-anchor': 'middle' }, out);
  }

  cross() {
    this.rowMark = element('rect', { class: 'mark', x: this.left,
      width: this.map.columns * this.cell, height: this.cell, visibility: 'hidden' });
    this.columnMark = element('rect', { class: 'mark', y: this.top, width: this.cell,
      height: this.map.rows * this.cell, visibility: 'hidden' });
    return [this.rowMark, this.columnMark];
  }

  at(event) {
    const box = this.svg.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top - this.top) / this.cell);
    const column = Math.floor((event.clientX - box.left - this.left) / this.cell);
    return {
      row: row >= 0 && row < this.map.rows ? row : null,
      column: column >= 0 && column < this.map.columns ? column : null,
    };
  }

  point(event) {
    const { row, column } = this.at(event);
    this.mark(row ?? this.page.query, row === null ? null : column);
  }

  click(event) {
    const { row } = this.at(event);
    if (row !== null) this.page.pick(row);
  }

  mark(row, column) {
    const shown = (visible) => (visible ? 'visible' : 'hidden');
    this.rowMark.setAttribute('visibility', shown(row !== null));
    this.columnMark.setAttribute('visibility', shown(column !== null));
    if (row !== null) this.rowMark.setAttribute('y', this.top + row * this.cell);
    if (column !== null) this.columnMark.setAttribute('x', this.left + column * this.cell);
    if (row === null) this.page.say('');
    else if (column === null) this.page.say(this.page.sayRow(row));
    else this.page.say(this.page.sayCell(row, column, this.map.at(row, column)));
  }

  scale() {
    const most = this.page.full ? 1 : this.largest;
    return element('p', { class: 'soft' }, colourScale(), ` ${decimal(most)}`,
      this.page.full ? '' : ' (the largest weight of this map)',
      `. Rows: ${this.page.rowName()}; columns: ${this.page.columnName()}. Each row sums to 1. `,
      'Hover over a cell to read it, click to select its row.');
  }
}

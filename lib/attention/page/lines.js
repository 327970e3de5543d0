// Lines between the two texts, thicker for larger weights. Hovering over a query or selecting it
// shows only its lines, and its weights as bars next to the keys.

const labelWidth = 230;
const barWidth = 120;
const maxLines = 20000;  // more would make the page slow

class LinesView {
  constructor(page) {
    this.page = page;
  }

  draw() {
    const { page } = this;
    const heads = page.heads;
    this.maps = heads.map((head) => page.map(head));
    const { rows, columns } = page.sides();
    const count = Math.max(rows.labels.length, columns.labels.length);
    this.lineHeight = count > 24 ? 22 : 27;
    const width = 1150;
    this.bars = width - barWidth - 50;
    this.right = this.bars - labelWidth;
    this.threshold = this.drawnThreshold();
    this.lines = element('g', { class: 'lines' });
    this.keys = columns.labels.map((label, j) => this.key(label, j));
    this.queries = rows.labels.map((label, i) => this.query(label, i));
    for (let i = 0; i < rows.labels.length; ++i) this.lines.append(this.linesOf(i, columns));
    this.svg = element('svg', {
      id: 'lines', width, height: (count + 1) * this.lineHeight + 6, role: 'img',
      'aria-label': `${page.title()}: lines from ${rows.labels.length} queries to ` +
        `${columns.labels.length} keys`,
    }, element('text', { x: labelWidth - 8, y: 15, class: 'soft', 'text-anchor': 'end' },
      page.rowName()),
    element('text', { x: this.right + 8, y: 15, class: 'soft' }, page.columnName()),
    this.lines, this.queries, this.keys.map((key) => key.group));
    this.svg.addEventListener('pointerleave', () => this.show(page.query));
    this.show(page.query);
    return [this.svg, this.legend(heads)];
  }

  // The smallest weight with a line: the slider's, or a larger one if there were too many lines.
  drawnThreshold() {
    const { threshold } = this.page;
    const drawn = this.maps.flatMap((map) =>
      [...map.values].filter((weight) => weight >= threshold));
    if (drawn.length <= maxLines) return threshold;
    return Float32Array.from(drawn).sort()[drawn.length - maxLines];
  }

  place(i) {
    return (i + 1) * this.lineHeight + 8;
  }

  query(label, i) {
    const text = element('text', {
      x: labelWidth - 8, y: this.place(i) + 4, 'text-anchor': 'end', class: 'query',
      'data-query': i,
    }, shortened(label, 26), element('title', {}, label));
    const pick = element('rect', {
      x: 0, y: this.place(i) - this.lineHeight / 2, width: labelWidth, height: this.lineHeight,
      class: 'pick', 'data-query': i,
    });
    const group = element('g', { class: 'row', 'data-query': i }, pick, text);
    group.addEventListener('pointerenter', () => this.show(i));
    group.addEventListener('click', () => this.page.pick(i));
    return group;
  }

  key(label, j) {
    const y = this.place(j);
    const bars = element('g', { class: 'bars' });
    const text = element('text', { x: this.right + 8, y: y + 4, class: 'key' },
      shortened(label, 26), element('title', {}, label));
    return { bars, group: element('g', { 'data-key': j }, text, bars) };
  }

  linesOf(i, columns) {
    const { page } = this;
    const group = element('g', { class: 'of-query', 'data-query': i });
    this.maps.forEach((map, h) => {
      const colour = this.maps.length > 1 ? colourOf(page.heads[h]) : 'var(--accent)';
      columns.labels.forEach((_, j) => {
        const weight = map.at(i, j);
        if (weight < this.threshold) return;
        const aside = (h - (this.maps.length - 1) / 2) * 2.5;
        const y0 = this.place(i) + aside;
        const y1 = this.place(j) + aside;
        const middle = (labelWidth + this.right) / 2;
        group.append(element('path', {
          d: `M${labelWidth} ${y0}C${middle} ${y0} ${middle} ${y1} ${this.right} ${y1}`,
          stroke: colour, 'stroke-width': (0.4 + 9 * weight).toFixed(2),
          'stroke-opacity': Math.min(0.9, 0.25 + 0.75 * weight).toFixed(2), fill: 'none',
        }));
      });
    });
    return group;
  }

  // Shows the lines of one query, or all lines if `query` is null.
  show(query) {
    if (this.shown === query && this.shownIn === this.svg) return;
    this.shown = query;
    this.shownIn = this.svg;
    this.svg.classList.toggle('one', query !== null);
    for (const node of this.svg.querySelectorAll('.of-query, .row')) {
      node.classList.toggle('shown', query !== null && Number(node.dataset.query) === query);
      node.classList.toggle('picked', Number(node.dataset.query) === this.page.query);
    }
    this.keys.forEach(({ bars }, j) => this.fill(bars, j, query));
    this.page.say(query === null ? '' : this.page.sayRow(query));
  }

  // The weights of one query on key j: a bar for each head, one below another, and the number of
  // the largest.
  fill(bars, j, query) {
    replaceChildren(bars);
    if (query === null) return;
    const weights = this.maps.map((map) => map.at(query, j));
    const most = Math.max(...weights);
    const thickness = (this.lineHeight - 7) / weights.length;
    const top = this.place(j) - (this.lineHeight - 7) / 2;
    weights.forEach((weight, h) => {
      bars.append(element('rect', {
        x: this.bars, y: (top + h * thickness).toFixed(1), width: (barWidth * weight).toFixed(1),
        height: (thickness * 0.9).toFixed(1),
        fill: this.maps.length > 1 ? colourOf(this.page.heads[h]) : 'var(--accent)',
      }));
    });
    if (most >= 0.005) {
      bars.append(element('text', { x: this.bars + barWidth * most + 6, y: this.place(j) + 4 },
        decimal(most)));
    }
  }

  legend(heads) {
    const names = heads.length < 2 ? null : element('span', {}, 'Bars from top to bottom: ',
      heads.map((head) => element('span', { class: 'swatch' },
        element('i', { style: `background:${colourOf(head)}` }), `head ${data.heads[head]} `)));
    return element('p', { class: 'soft' },
      'Hover over a query to see only its lines, click to select it. ',
      `Weights below ${decimal(this.threshold, this.threshold < 0.01 ? 4 : 2)} are hidden. `,
      names);
  }
}

function shortened(text, most) {
  const letters = [...text];
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join('')}\u2026`;
}

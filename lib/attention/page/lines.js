// Lines between the two texts, thicker for larger weights. Hovering over a query or selecting it
// shows only its lines, and its weights as bars next to the keys.

const maxLines = 20000;  // more would make the page slow
const narrowDrawing = 600;  // in pixels; narrower ones have smaller texts

// The width of a text of a drawing, in pixels.
const textMeter = document.createElement('canvas').getContext('2d');
function textWidth(text, size) {
  textMeter.font = `${size}px system-ui, "Segoe UI", "DejaVu Sans", sans-serif`;
  return textMeter.measureText(text).width;
}

// The text, or as many letters of it as fit.
function fitted(text, size, width) {
  let out = text;
  for (let most = [...text].length; most > 1 && textWidth(out, size) > width; --most) {
    out = shortened(text, most - 1);
  }
  return out;
}

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
    this.layOut(rows.labels, columns.labels, count);
    this.threshold = this.drawnThreshold();
    this.lines = element('g', { class: 'lines' });
    this.keys = columns.labels.map((label, j) => this.key(label, j));
    this.queries = rows.labels.map((label, i) => this.query(label, i));
    for (let i = 0; i < rows.labels.length; ++i) this.lines.append(this.linesOf(i, columns));
    const height = (count + 1) * this.lineHeight + 6;
    this.svg = element('svg', {
      id: 'lines', width: this.width, height, viewBox: `0 0 ${this.width} ${height}`, role: 'img',
      style: `--size:${this.size}px`,
      'aria-label': `${page.title()}: lines from ${rows.labels.length} queries to ` +
        `${columns.labels.length} keys`,
    }, this.heading(page.rowName(), this.left - 8, 'end'),
    this.heading(page.columnName(), this.right + 8, 'start'),
    this.lines, this.queries, this.keys.map((key) => key.group));
    this.svg.addEventListener('pointerleave', () => this.show(page.query));
    this.show(page.query);
    return [this.svg, this.legend(heads)];
  }

  // The drawing is as wide as its card: texts of both sides, the lines between them, and bars.
  layOut(rows, columns, count) {
    this.width = this.page.width ?? 1150;
    const narrow = this.width < narrowDrawing;
    this.size = narrow || count > 24 ? 13 : 15;
    this.lineHeight = count > 24 ? 22 : 2 * this.size;
    const most = this.width * (narrow ? 0.3 : 0.24);
    const widest = (labels) => labels.reduce((width, label) =>
      Math.max(width, textWidth(label, this.size)), 40);
    this.left = Math.min(most, widest(rows)) + 12;
    this.barWidth = narrow ? 24 : Math.min(200, 0.13 * this.width);
    this.bars = this.width - this.barWidth - 44;
    this.right = this.bars - Math.min(most, widest(columns)) - 20;
  }

  // The name of a side, above its texts; one that is too wide moves inwards.
  heading(text, x, anchor) {
    const width = textWidth(text, 13);
    const inside = anchor === 'end' ? Math.max(x, width) : Math.min(x, this.width - width);
    return element('text', { x: inside, y: 15, class: 'soft heading', 'text-anchor': anchor },
      text);
  }

  // The smallest weight with a line: the slider's, or a larger one if there were too many lines.
  drawnThreshold() {
    const { threshold } = this.page;
    const drawn = this.maps.flatMap((map) =>
      [...map.values].filter((weight) => weight > 0 && weight >= threshold));
    if (drawn.length <= maxLines) return threshold;
    return Float32Array.from(drawn).sort()[drawn.length - maxLines];
  }

  place(i) {
    return (i + 1) * this.lineHeight + 8;
  }

  query(label, i) {
    const text = element('text', {
      x: this.left - 8, y: this.place(i) + 5, 'text-anchor': 'end', class: 'query',
      'data-query': i,
    }, fitted(label, this.size, this.left - 10), element('title', {}, label));
    const pick = element('rect', {
      x: 0, y: this.place(i) - this.lineHeight / 2, width: this.left, height: this.lineHeight,
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
    const text = element('text', { x: this.right + 8, y: y + 5, class: 'key' },
      fitted(label, this.size, this.bars - this.right - 14), element('title', {}, label));
    return { bars, group: element('g', { 'data-key': j }, text, bars) };
  }

  linesOf(i, columns) {
    const { page } = this;
    const group = element('g', { class: 'of-query', 'data-query': i });
    const lines = this.maps.flatMap((map, h) => columns.labels.map((_, j) =>
      ({ h, j, weight: map.at(i, j) })))
      .filter(({ weight }) => weight > 0 && weight >= this.threshold);
    lines.sort((a, b) => a.weight - b.weight);  // strong lines over weak ones
    // The lines of the heads lie side by side.
    const heads = this.maps.length;
    const thickness = Math.min(9.4, (this.lineHeight - 6) / heads);
    const middle = (this.left + this.right) / 2;
    for (const { h, j, weight } of lines) {
      const aside = (h - (heads - 1) / 2) * thickness;
      const y0 = this.place(i) + aside;
      const y1 = this.place(j) + aside;
      group.append(element('path', {
        d: `M${this.left} ${y0}C${middle} ${y0} ${middle} ${y1} ${this.right} ${y1}`,
        stroke: heads > 1 ? colourOf(page.heads[h]) : 'var(--accent)', fill: 'none',
        'stroke-width': (0.4 + Math.max(0.4, thickness - 0.4) * weight).toFixed(2),
        'stroke-opacity': Math.min(0.9, 0.25 + 0.75 * weight).toFixed(2),
      }));
    }
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
        x: this.bars, y: (top + h * thickness).toFixed(1),
        width: (this.barWidth * weight).toFixed(1), height: (thickness * 0.9).toFixed(1),
        fill: this.maps.length > 1 ? colourOf(this.page.heads[h]) : 'var(--accent)',
      }));
    });
    if (most >= 0.005) {
      bars.append(element('text', { x: this.bars + this.barWidth * most + 6,
        y: this.place(j) + 5 }, decimal(most)));
    }
  }

  legend(heads) {
    const names = heads.length < 2 ? null : element('span', {}, 'Bars from top to bottom: ',
      heads.map((head) => element('span', { class: 'swatch' },
        element('i', { style: `background:${colourOf(head)}` }), `head ${data.heads[head]} `)));
    const least = decimal(this.threshold, this.threshold < 0.01 ? 4 : 2);
    const none = this.lines.querySelector('path') === null;
    const usual = 'Hover over a query to see only its lines, click to select it. ';
    return element('p', { class: 'soft' }, none ? element('b', { id: 'no-lines' },
      `All weights are below ${least}, and have no line. `)
      : `Weights below ${least} have no line. `, this.page.hint?.() ?? usual, names);
  }
}

function shortened(text, most) {
  const letters = [...text];
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join('')}\u2026`;
}

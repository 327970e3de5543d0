// Line charts. Series differ in colour, in dashes and in a label at the end of the line; one with
// `dots` is a thin line with a hollow mark at each point, whose shape differs too.

const dashes = ['', '7 4', '2 3', '10 3 2 3', '14 4', '4 2 1 2'];

// Marks around (0, 0): circle, square, triangle, diamond.
const marks = ['M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0 -6.8 0z', 'M-3 -3h6v6h-6z',
  'M0 -4l4 7h-8z', 'M0 -4.4l4.4 4.4l-4.4 4.4l-4.4 -4.4z'];

// About `count` round numbers from low to high.
function ticks(low, high, count) {
  const raw = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
  const out = [];
  const first = Math.ceil(low / step - 1e-9);
  for (let i = first; i * step <= high + step * 1e-9; ++i) out.push(i * step);
  return out;
}

// The powers of ten in the range; for short ranges also 2 and 5 times them.
function logTicks(low, high) {
  const out = [];
  const few = Math.log10(high / low) < 2.5;
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power) {
    for (const factor of few ? [1, 2, 5] : [1]) {
      const x = factor * 10 ** power;
      if (x >= low * 0.999 && x <= high * 1.001) out.push(x);
    }
  }
  return out;
}

// 12,000; 1.5M; 0.0007; 3e-7
function shortNumber(x) {
  const size = Math.abs(x);
  if (size === 0) return '0';
  if (size >= 1e9) return `${Number((x / 1e9).toPrecision(3))}G`;
  if (size >= 1e6) return `${Number((x / 1e6).toPrecision(3))}M`;
  if (size >= 1000) return thousands(Math.round(x));
  if (size < 1e-4) return Number(x.toPrecision(3)).toExponential().replace('-', '\u2212');
  return String(Number(x.toPrecision(4))).replace('-', '\u2212');
}

class Axis {
  constructor(low, high, from, to, logarithmic) {
    this.logarithmic = logarithmic && low > 0;
    // Ends that differ by rounding are equal: between them there are no round numbers.
    const flat = !(high - low > 1e-9 * Math.max(Math.abs(low), Math.abs(high)));
    const margin = this.logarithmic || !flat ? 0 : Math.abs(low) / 10 || 1;
    this.low = low - margin;
    this.high = high + margin;
    if (this.logarithmic && flat) this.high = low * 1.1;
    Object.assign(this, { from, to });
  }

  // Extends both ends to round numbers.
  rounded() {
    if (this.logarithmic) return this;
    const step = ticks(this.low, this.high, 5);
    const size = step[1] - step[0];
    if (!(size > 0)) return this;
    this.low = Math.floor(this.low / size + 1e-9) * size;
    this.high = Math.ceil(this.high / size - 1e-9) * size;
    return this;
  }

  endAt(high) {
    this.high = high;
    if (this.low >= high) this.low = high / 1.1;
  }

  at(x) {
    const share = this.logarithmic ? Math.log(x / this.low) / Math.log(this.high / this.low)
      : (x - this.low) / (this.high - this.low);
    return this.from + share * (this.to - this.from);
  }

  ticks(count) {
    const powers = this.logarithmic ? logTicks(this.low, this.high) : [];
    return powers.length > 1 ? powers : ticks(this.low, this.high, count);
  }
}

// series: [{name, label, index, points: [[x, y]], dots}]; index selects colour and dashes.
// events: [{x, y, text, shape}] are drawn on the series, or at the bottom if y is null.
class Chart {
  // xRange: the ends of the x-axis, by default those of the data. most: of the y-axis. letters: of
  // the longest label, by default of this chart.
  constructor({ id, title, xName, series, events = [], logarithmic = false, width = 570,
    height = 250, fromZero = false, xRange = null, most = Infinity, letters = null }) {
    Object.assign(this, { id, title, xName, series, events, width, height });
    const points = series.flatMap((one) => one.points);
    const xs = xRange ?? [...points.map(([x]) => x), ...events.map(({ x }) => x)];
    const ys = points.map(([, y]) => y).filter((y) => !logarithmic || y > 0);
    const min = (list) => list.reduce((a, b) => Math.min(a, b), Infinity);
    const max = (list) => list.reduce((a, b) => Math.max(a, b), -Infinity);
    // Labels are to the right of the lines or, if they would take much of the width, above them.
    const labels = 7.6 * (letters ?? max(series.map(({ label }) => label?.length ?? 0))) + 10;
    this.above = labels > 0.2 * width;
    const right = width - (this.above ? 14 : Math.max(24, labels));
    this.x = new Axis(min(xs), max(xs), 62, right, false);
    const low = min(ys);
    this.y = new Axis(fromZero && !logarithmic ? Math.min(0, low) : low, max(ys), height - 38, 14,
      logarithmic).rounded();
    if (this.y.high > most) this.y.endAt(Math.max(most, max(ys)));
    this.empty = points.length === 0;
    this.labelPlaces = new Map();
  }

  draw() {
    const heading = element('h2', {}, this.title);
    if (this.empty) return element('section', { id: this.id }, heading, element('p', {}, 'none'));
    this.guide = element('line', { y1: this.y.to, y2: this.y.from, class: 'guide',
      visibility: 'hidden' });
    this.said = element('p', { class: 'said soft' }, '\u00a0');
    this.placeLabels();
    const svg = element('svg', { width: this.width, height: this.height, role: 'img',
      viewBox: `0 0 ${this.width} ${this.height}`, 'aria-label': this.summary() },
    this.grid(), this.series.map((one) => this.line(one)),
    this.events.map((event) => this.event(event)), this.guide);
    svg.addEventListener('pointermove', (event) => this.point(svg, event));
    svg.addEventListener('pointerleave', () => this.leave());
    return element('section', { id: this.id, class: 'chart' }, heading, svg, this.said);
  }

  summary() {
    const ends = ({ name, points }) => (points.length === 0 ? name
      : `${name} from ${shortNumber(points[0][1])} to ${shortNumber(points.at(-1)[1])}`);
    return `${this.title}: ${this.series.map(ends).join('; ')}`;
  }

  // The labels at the ends of the lines, moved apart where they would overlap.
  placeLabels() {
    const min = this.y.logarithmic ? this.y.low : -Infinity;
    const ends = this.series.filter(({ label, points }) => label && points.length > 0)
      .map((one) => ({ one, x: this.x.at(one.points.at(-1)[0]) + (this.above ? 0 : 5),
        y: this.y.at(Math.max(one.points.at(-1)[1], min)) - (this.above ? 10 : 0) }))
      .sort((a, b) => a.y - b.y);
    ends.forEach((end, i) => {
      for (const above of ends.slice(0, i)) {
        if (Math.abs(above.x - end.x) < 40) end.y = Math.max(end.y, above.y + 13);
      }
    });
    // All labels move up if the lowest is below the axis.
    const beyond = Math.max(0, ...ends.map(({ y }) => y - this.y.from - 2));
    for (const end of ends) this.labelPlaces.set(end.one, [end.x, end.y - beyond]);
  }

  grid() {
    const { x, y } = this;
    return element('g', {},
      y.ticks(5).map((value) => [
        element('line', { x1: x.from, x2: x.to, y1: y.at(value), y2: y.at(value), class: 'rule' }),
        element('text', { x: x.from - 6, y: y.at(value) + 4, 'text-anchor': 'end', class: 'soft' },
          shortNumber(value))]),
      x.ticks(this.width < 450 ? 3 : 5).map((value) => element('text', { x: x.at(value),
        y: y.from + 17, 'text-anchor': 'middle', class: 'soft' }, shortNumber(value))),
      element('line', { x1: x.from, x2: x.to, y1: y.from, y2: y.from, class: 'axis' }),
      element('text', { x: x.to, y: y.from + 33, 'text-anchor': 'end', class: 'soft' },
        this.xName));
  }

  line(one) {
    const { index, points, dots, label } = one;
    const shown = points.filter(([, value]) => !this.y.logarithmic || value > 0);
    const places = shown.map(([x, y]) => `${this.x.at(x).toFixed(1)},${this.y.at(y).toFixed(1)}`);
    const colour = colourOf(index);
    const [labelX, labelY] = this.labelPlaces.get(one) ?? [];
    const mark = (filled) => (place) => element('path', { class: 'mark', stroke: colour,
      d: marks[index % marks.length], transform: `translate(${place})`,
      fill: filled ? colour : 'var(--panel)' });
    return element('g', { 'data-series': index, class: dots ? 'marked' : '' },
      element('polyline', { points: places.join(' '), fill: 'none', stroke: colour,
        'stroke-width': dots ? 1 : 1.8, 'stroke-dasharray': dashes[index % dashes.length] }),
      dots ? places.map(mark(false)) : places.length === 1 ? mark(true)(places[0]) : null,
      labelX ? element('text', { x: labelX, y: labelY + 4, class: 'end', style: `fill:${colour}`,
        'text-anchor': this.above ? 'end' : 'start' }, label) : null);
  }

  event({ x, y, text, shape, index }) {
    const cx = this.x.at(x).toFixed(1);
    const cy = y === null ? this.y.from : this.y.at(y).toFixed(1);
    const path = shape === 'spike' ? `M${cx} ${cy}l-6 -11h12z` : `M${cx} ${cy}v-7`;
    return element('path', { d: path, class: `event ${shape}`, stroke: colourOf(index),
      fill: shape === 'spike' ? 'var(--negative)' : 'none' }, element('title', {}, text));
  }

  point(svg, event) {
    const box = svg.getBoundingClientRect();
    const share = ((event.clientX - box.left) * this.width) / box.width;
    const wanted = this.x.low + ((share - this.x.from) / (this.x.to - this.x.from))
      * (this.x.high - this.x.low);
    const nearest = ({ points }) => points.reduce((best, point) =>
      (Math.abs(point[0] - wanted) < Math.abs(best[0] - wanted) ? point : best), points[0]);
    const found = this.series.filter(({ points }) => points.length > 0)
      .map((one) => ({ name: one.name, point: nearest(one) }));
    if (found.length === 0) return;
    const x = found.reduce((best, { point }) =>
      (Math.abs(point[0] - wanted) < Math.abs(best - wanted) ? point[0] : best), found[0].point[0]);
    this.guide.setAttribute('visibility', 'visible');
    for (const end of ['x1', 'x2']) this.guide.setAttribute(end, this.x.at(x));
    this.said.textContent = `${this.xName} ${shortNumber(x)}: ${found.map(({ name, point }) =>
      `${name} ${shortNumber(point[1])}`).join(', ')}`;
  }

  leave() {
    this.guide.setAttribute('visibility', 'hidden');
    this.said.textContent = '\u00a0';
  }
}

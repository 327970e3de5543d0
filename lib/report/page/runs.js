// A run and the points of its charts, over steps, tokens or minutes.

const axes = {
  steps: { label: 'steps', name: 'step' },
  tokens: { label: 'tokens', name: 'tokens' },
  minutes: { label: 'minutes', name: 'minute' },
};

// The charts, in order; one without data is left out. `steps` and `validation`: keys of the log.
// `log`: always on a logarithmic scale; `most`: of the y-axis.
const quantities = [
  { id: 'loss', title: 'Loss, nats per target token', steps: 'loss',
    validation: 'validation_loss' },
  { id: 'perplexity', title: 'Perplexity, logarithmic', steps: 'perplexity',
    validation: 'validation_perplexity', log: true },
  { id: 'guided_loss', title: 'Guided alignment loss, nats per aligned token',
    steps: 'guided_loss' },
  { id: 'consistency_loss', title: 'Divergence of the two passes, nats per target token',
    steps: 'consistency_loss' },
  { id: 'learning_rate', title: 'Learning rate', steps: 'learning_rate', fromZero: true },
  { id: 'gradient_norm', title: 'Gradient norm, before clipping', steps: 'gradient_norm' },
  { id: 'tokens_per_second', title: 'Tokens per second', steps: 'tokens_per_second',
    fromZero: true },
  { id: 'accuracy', title: 'Validation accuracy', validation: 'validation_accuracy', most: 1 },
  { id: 'bleu', title: 'Validation BLEU', validation: 'validation_bleu' },
  { id: 'chrf', title: 'Validation chrF', validation: 'validation_chrf' },
  { id: 'score', title: 'Score of the validation command', validation: 'validation_score' },
];

// Linear interpolation at x; xs ascend.
function between(xs, ys, x) {
  const next = xs.findIndex((one) => one >= x);
  if (next < 0) return ys.at(-1);
  if (next === 0) return ys[0];
  const share = (x - xs[next - 1]) / (xs[next] - xs[next - 1]);
  return ys[next - 1] + share * (ys[next] - ys[next - 1]);
}

class Run {
  constructor(record, index) {
    Object.assign(this, { record, index, name: record.name, label: String(index + 1) });
  }

  // The x of a log line. Only lines of steps have `tokens`; for others it is interpolated.
  place(line, axis) {
    if (axis === 'steps') return line.step;
    if (axis === 'minutes') return line.seconds / 60;
    return line.tokens !== undefined ? line.tokens : this.interpolated(line.step, 'tokens');
  }

  // Tokens or seconds at a step, between lines of steps and from 0 on.
  interpolated(step, name) {
    const { steps } = this.record;
    if (steps.step.length === 0) return NaN;
    return between([0, ...steps.step], [0, ...steps[name]], step);
  }

  // The learning rate of many steps, if the schedule of the options is the one in the log. Its
  // warm-up may end before the first line of the log.
  rates(axis) {
    return this.record.rates.map(([step, rate]) => [this.place({ step,
      seconds: this.interpolated(step, 'seconds') }, axis), rate]);
  }

  // The points of a quantity, each the moving average of the last `smooth` lines.
  points(name, axis, smooth) {
    if (name === 'learning_rate' && this.record.rates.length > 0) return this.rates(axis);
    return this.pointsOf(this.record.steps[name], axis, smooth);
  }

  // The same of the gradient norms of the layers of a stack: [{name, label, points}].
  layers(stack, axis, smooth) {
    const prefix = `${stack}.layers.`;
    return Object.entries(this.record.steps.gradient_norms ?? {})
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, column]) => ({ name, label: name.slice(prefix.length),
        points: this.pointsOf(column, axis, smooth) }));
  }

  pointsOf(column, axis, smooth) {
    const { steps } = this.record;
    const out = [];
    const recent = [];
    steps.step.forEach((step, i) => {
      const y = column?.[i] ?? null;
      const x = this.place({ step, seconds: steps.seconds[i], tokens: steps.tokens[i] }, axis);
      if (y === null || !Number.isFinite(x)) return;
      recent.push(y);
      if (recent.length > smooth) recent.shift();
      out.push([x, recent.reduce((a, b) => a + b, 0) / recent.length]);
    });
    return out;
  }

  validations(name, axis) {
    return this.record.validations
      .filter((line) => Number.isFinite(line[name]))
      .map((line) => [this.place(line, axis), line[name]])
      .filter(([x]) => Number.isFinite(x));
  }

  // Markers of checkpoints and failed steps, for the chart with these points.
  events(axis, points) {
    const xs = points.map(([x]) => x);
    const ys = points.map(([, y]) => y);
    const wrong = points.length === 0 ? [] : this.record.incidents.map((line) => {
      const x = this.place({ ...line, step: line.at_step }, axis);
      return { x, y: between(xs, ys, x), shape: 'spike', index: this.index,
        text: `${this.name}: ${line.incident} at step ${line.at_step}, ${line.action}` };
    });
    const saved = this.record.checkpoints.map((line) => ({
      x: this.place(line, axis), y: null, shape: 'checkpoint', index: this.index,
      text: `${this.name}: ${line.checkpoint}` }));
    return [...wrong, ...saved].filter(({ x }) => Number.isFinite(x));
  }

  // The line of the best validation: the lowest loss.
  best() {
    const lines = this.record.validations.filter((line) => Number.isFinite(line.validation_loss));
    return lines.reduce((best, line) =>
      (!best || line.validation_loss < best.validation_loss ? line : best), null);
  }

  last(name) {
    return this.record.steps[name].at(-1) ?? null;
  }
}

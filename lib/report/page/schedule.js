// The learning rate of these settings, as tx-train computed it, and that of the paper's schedule
// (equation 3) for any width and warm-up.

const widths = ['64', '128', '256', '512', '1024', '2048'];
const warmups = ['500', '1000', '2000', '4000', '8000', '16000'];

function paperRate(step, width, warmup, factor = 1) {
  return (factor / Math.sqrt(width)) * Math.min(1 / Math.sqrt(step), step * warmup ** -1.5);
}

function drawSchedule(page) {
  const { schedule } = data;
  const width = Number(page.state.get('width'));
  const warmup = Number(page.state.get('warmup'));
  const own = schedule.rates;
  const other = own.map(([step]) => [step, paperRate(step, width, warmup)]);
  const highest = (points) => points.reduce((best, point) => (point[1] > best[1] ? point : best));
  const [step, rate] = highest(other);
  const chart = new Chart({ id: 'schedule', title: 'Learning rate', xName: 'step', fromZero: true,
    width: page.drawnWidth, height: page.drawnWidth < 600 ? 240 : 320,
    logarithmic: page.state.get('scale') === 'log', series: [
      { name: 'these settings', label: 'these settings', index: 0, points: own },
      { name: `the paper\u2019s formula, d_model ${width}, warm-up ${warmup}`,
        label: 'the paper\u2019s formula', index: 1, points: other }] });
  return [chart.draw(),
    element('p', { class: 'soft' },
      `These settings: schedule ${schedule.kind}, d_model ${schedule.d_model}, `,
      `warm-up ${schedule.warmup}. `,
      `The paper\u2019s formula: d_model${'\u207b\u2070\u00b7\u2075'} \u00b7 `,
      `min(step${'\u207b\u2070\u00b7\u2075'}, `,
      `step \u00b7 warm-up${'\u207b\u00b9\u00b7\u2075'}); its maximum in this range is at step `,
      element('output', { id: 'highest' }, `${thousands(step)}: ${rate.toExponential(3)}`), '.')];
}

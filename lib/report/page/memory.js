// The memory of a run and the arithmetic of a step.

// 17.1 MiB, 69.5 GiB
function binarySize(bytes) {
  const large = bytes >= 2 ** 30;
  return `${(bytes / 2 ** (large ? 30 : 20)).toFixed(1)} ${large ? 'GiB' : 'MiB'}`;
}

// 618.97 MFLOP, 1.6 TFLOP
function flopCount(flops) {
  const power = Math.min(6, Math.max(0, Math.floor(Math.log10(flops) / 3)));
  return `${Number((flops / 1000 ** power).toPrecision(5))} ${
    ['', 'k', 'M', 'G', 'T', 'P', 'E'][power]}FLOP`;
}

function drawMemory() {
  const { parts: rows, total, recompute, other_activations: other } = data.memory;
  const bar = (bytes) => element('svg', { width: barLength, height: 14, 'aria-hidden': 'true' },
    element('rect', { height: 14, width: ((barLength * bytes) / total).toFixed(1),
      fill: 'var(--accent)' }));
  return [element('h2', {}, `${binarySize(total)} of memory`),
    element('table', { id: 'memory' },
      element('tr', {}, element('th', { class: 'text' }, 'part'), element('th', {}),
        element('th', {}, 'size')),
      rows.map(({ name, bytes }) => element('tr', {}, element('td', { class: 'text' }, name),
        element('td', {}, bar(bytes)), element('td', {}, binarySize(bytes)))),
      element('tr', { class: 'total' }, element('td', { class: 'text' }, 'total'),
        element('td', {}), element('td', {}, binarySize(total)))),
    element('p', { class: 'soft' }, other === 0 ? '' : `With${recompute ? 'out' : ''} ` +
      `--recompute activations take ${binarySize(other)}.`)];
}

function drawStep() {
  const { accumulate, tokens, flops } = data.step;
  const { steps } = data.schedule;
  const sum = accumulate * tokens.reduce((all, side) => all + side.tokens, 0);
  const batches = accumulate === 1 ? 'one batch' : `${thousands(accumulate)} batches`;
  const rows = [
    ['batches per step', thousands(accumulate)],
    ...tokens.map((side) => [`${side.side} tokens per batch`, thousands(side.tokens)]),
    ['FLOPs per step', flopCount(flops)],
    ['FLOPs per token', flopCount(flops / sum)],
    [`FLOPs of ${thousands(steps)} steps`, flopCount(flops * steps)],
  ];
  return [element('h2', {}, `${flopCount(flops)} per step`),
    element('table', { id: 'step' }, rows.map(([name, value]) => element('tr', {},
      element('td', { class: 'text' }, name), element('td', {}, value)))),
    element('p', { class: 'soft' }, 'Matrix products of the forward and backward pass over ',
      `${batches}: 6 FLOPs per weight and token, without attention scores. `,
      tokens.length > 1 ? 'Source and target are assumed to be of equal length.' : '')];
}

// The top of the page: the source, its tokens, the output and its tokens.

const probability = (logP) => Math.exp(logP);

// A probability as a percentage of at most four characters.
function percent(p) {
  if (p >= 0.9995) return '100%';
  if (p >= 0.0995) return `${(100 * p).toFixed(0)}%`;
  return p >= 0.0005 ? `${(100 * p).toFixed(1)}%` : '<0.1%';
}

function sayPrediction({ token, logP }) {
  return `${token}: probability ${percent(probability(logP))}, log P ${decimal(logP, 4)}`;
}

const roles = {
  'encoder-decoder': { source: 'Source', output: 'Translation', given: 'Target' },
  decoder: { source: 'Beginning', output: 'Continuation', given: 'Continuation' },
  encoder: { source: 'Text with <mask>', output: 'Filled', given: 'Filled' },
};

class TextPart {
  constructor(page) {
    this.page = page;
    const { source, output } = roles[page.config.kind];
    const [from, to] = data.models[0].languages ?? [];
    this.input = element('textarea', { id: 'source', rows: 2, spellcheck: 'false', maxlength: 2000,
      dir: 'auto', ...(from ? { lang: from } : {}), placeholder: 'Type a sentence',
      oninput: () => this.typed() });
    this.translation = element('p', { id: 'translation', 'aria-live': 'polite', tabindex: 0,
      dir: 'auto', ...(to ? { lang: to } : {}),
      'aria-labelledby': 'output-name' });
    this.outputName = element('span', { class: 'name', id: 'output-name' }, output);
    this.logP = element('output', { id: 'log-p' });
    this.note = element('span', { id: 'note', class: 'soft' });
    this.sourceTokens = element('div', { class: 'tokens', id: 'source-tokens', role: 'group',
      'aria-label': `${source} tokens`, tabindex: 0 });
    this.tokens = element('span', { id: 'tokens' });
    this.end = element('span', { id: 'end' });
    const line = (name, title, tokens) => element('div', { class: 'line' },
      element('span', { class: 'name', title }, name), tokens);
    this.node = element('div', { id: 'text' },
      element('div', { class: 'columns' },
        element('section', {}, element('label', { class: 'name', for: 'source' }, source),
          this.input, this.examples()),
        element('section', {}, this.outputName, this.translation,
          element('p', { class: 'figures' }, explained('log P'), ' ', this.logP, this.note,
            page.status))),
      line('Tokens read', 'The source, cut into the tokens of the vocabulary, with their numbers',
        this.sourceTokens),
      line('Tokens predicted', 'With the probability of each. Press one to select its step.',
        element('div', { class: 'tokens', role: 'group', tabindex: 0,
          'aria-label': `${output} tokens` }, this.tokens, this.end)));
  }

  examples() {
    const lines = data.examples ?? [];
    if (!lines.length) return null;
    const choose = (line) => this.page.state.set({ ...this.page.fresh, text: line });
    const rest = lines.slice(3);
    return element('div', { class: 'chips controls', id: 'examples', role: 'group',
      'aria-label': 'Examples' },
    lines.slice(0, 3).map((line, i) => element('button', { type: 'button', id: `example-${i}`,
      title: line, onclick: () => choose(line) }, line)),
    rest.length ? element('select', { id: 'more-examples', 'aria-label': 'More examples',
      onchange: (event) => choose(event.target.value) },
    element('option', { value: '', hidden: true }, `${rest.length} more`),
    rest.map((line) => element('option', { value: line }, shortened(line, 100)))) : null);
  }

  typed() {
    const { page } = this, text = this.input.value;
    page.later('text', () => page.state.set({ ...page.fresh, text }));
  }

  // The output so far, of a slow model.
  partial(text) {
    this.translation.textContent = `${text} \u2026`;
  }

  draw() {
    const { page } = this, { result } = page, text = page.state.get('text');
    if (document.activeElement !== this.input && this.input.value !== text) this.input.value = text;
    const { output, given } = roles[page.config.kind];
    this.outputName.textContent = page.state.get('target') ? `${given} (given)` : output;
    this.translation.textContent = result?.text ?? '';
    this.logP.textContent = result ? result.logP.toFixed(4) : '';
    this.note.textContent = !result ? '' : [text.length >= longestText &&
      `at most ${longestText} characters`, result.cut && `source cut to ${result.cut} tokens`,
      result.complete === false && 'cut at the maximum length'].filter(Boolean).join('; ');
    rebuild(this.sourceTokens, result?.source.tokens.map(({ id, text: token }, i) =>
      element('span', { class: 'token', title: `token ${i}, id ${id}`, 'data-below': id }, token)));
    const tokens = result ? result.steps.map((step, i) => this.token(step, i)) : [];
    const ended = result?.complete !== false && page.config.kind !== 'encoder';
    rebuild(this.tokens, ended ? tokens.slice(0, -1) : tokens);
    rebuild(this.end, ended ? tokens.slice(-1) : []);
  }

  token(step, i) {
    const { page } = this;
    const forced = i < page.prefix.length;
    return element('button', { type: 'button', id: `token-${i}`,
      class: `token${forced ? ' forced' : ''}`, 'aria-pressed': String(page.step === i),
      title: sayPrediction(step) + (forced ? ' (chosen by hand)' : ''),
      'data-below': percent(probability(step.logP)),
      onclick: () => page.lookAt(i) }, step.token);
  }
}

// The outputs next to each other, with the words that differ from the first one marked.
// outcomes: [{ name, result }].
function drawOutcomes(outcomes) {
  const [first] = outcomes;
  return outcomes.map(({ name, result }) => element('div', { class: 'outcome' },
    element('div', { class: 'name' }, name),
    element('p', {}, result === first.result ? result.text : marked(first.result, result)),
    element('p', { class: 'soft' }, explained('log P'), ` ${decimal(result.logP, 4)}`,
      result === first.result ? null
        : `, ${decimal(Math.abs(result.logP - first.result.logP), 4)} ` +
          `${result.logP < first.result.logP ? 'lower' : 'higher'}`)));
}

// The words of `result`; those not in a longest common subsequence with `first` are marked, and the
// words that only `first` has are struck out.
function marked(first, result) {
  const a = first.text.split(' '), b = result.text.split(' ');
  const length = Array.from({ length: a.length + 1 }, () => new Int32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; --i) {
    for (let j = b.length - 1; j >= 0; --j) {
      length[i][j] = a[i] === b[j] ? length[i + 1][j + 1] + 1
        : Math.max(length[i + 1][j], length[i][j + 1]);
    }
  }
  const out = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (a[i] === b[j]) {
      out.push(b[j++]);
      ++i;
    } else if (j === b.length || (i < a.length && length[i + 1][j] >= length[i][j + 1])) {
      out.push(element('del', {}, a[i++]));
    } else out.push(element('mark', {}, b[j++]));
    out.push(' ');
  }
  return out;
}

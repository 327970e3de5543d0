// The models of the page: each in its own worker, one call at a time.

const kindTexts = {
  encoder: 'Each source token attends to the source tokens',
  decoder: 'Each output token attends to the output tokens before it',
  cross: 'Each output token attends to the source tokens',
};

// The name of the list of queries: a row of the decoder is named after the token it predicts.
const queryName = (kind) => (kind === 'encoder' ? 'Token' : 'Predicting');

// The kinds of attention that a model has, and the number of its layers.
function kindsOf(config) {
  return { encoder: ['encoder'], decoder: ['decoder'] }[config.kind]
    ?? ['encoder', 'decoder', 'cross'];
}
function layersOf(config, kind) {
  return kind === 'encoder' ? config.encoder_layers : config.decoder_layers;
}

// The sub-layers of a layer, as in the names of tensors.
function subLayersOf(config, stack) {
  const cross = stack === 'decoder' && config.kind === 'encoder-decoder';
  return ['self_attn', ...(cross ? ['cross_attn'] : []), 'ffn'];
}

// The names of the rows and columns of an attention map. Row t of the decoder's maps reads the
// output before token t and predicts token t.
function sidesOf(result, kind) {
  const source = result.source.tokens.map(({ text }) => text);
  if (kind === 'encoder') return { rows: source, columns: source };
  const read = result.inputs.map(({ text }) => text);
  const rows = [...read.slice(1), result.steps.at(-1)?.token ?? ''];
  return { rows, columns: kind === 'decoder' ? read : source };
}

function mapOf(result, kind, layer, head) {
  const { rows, cols, data: values } = result.attention[kind][layer][head];
  return new AttentionMap(rows, cols, values);
}

// rebuild() that also keeps the scroll position of the parts that have an id.
function redraw(node, ...children) {
  const places = [...node.querySelectorAll('.scroll[id]')]
    .map((part) => [part.id, part.scrollLeft]);
  rebuild(node, ...children);
  for (const [id, left] of places) {
    const part = document.getElementById(id);
    if (part) part.scrollLeft = left;
  }
}

// The end of a model's path, long enough to tell the models apart.
function labelOf(index) {
  const ends = (count) => data.models.map(({ name }) => name.split('/').slice(-count).join('/'));
  let count = 1;
  while (count < 9 && new Set(ends(count)).size < data.models.length) ++count;
  return ends(count)[index];
}

// The name of a language, '' if the code of a model's training text is not known.
function languageOf(code) {
  try {
    return new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' }).of(code) ?? '';
  } catch {
    return '';
  }
}

// What the model does and what to type, from what the page knows: the kind, the languages, the
// vocabulary (once it is loaded) and the examples.
function aboutModel({ index, config, lowercase }) {
  const [from, to] = (data.models[index].languages ?? []).map(languageOf);
  const examples = data.examples ?? [];
  const type = from ? `Type a sentence in ${from}` : examples.length
    ? 'Type a sentence in the language of the examples' : 'Type a sentence';
  const first = {
    encoder: 'This model guesses hidden words: write <mask> in the place of a word.',
    decoder: 'This model continues the text that you type.',
  }[config.kind] ?? (from && to ? `This model translates ${from} into ${to}. ${type}.`
    : `This model turns a source text into an output text, such as its translation. ${type}.`);
  const apart = examples.some((line) => /\s[.,!?](\s|$)/.test(line)) &&
    !examples.some((line) => /[^\s.,!?][.,!?](\s|$)/.test(line));
  return [first, lowercase && 'Its vocabulary has no capital letters: use lower case.',
    apart && 'Put a space before each full stop and comma, as the examples do.']
    .filter(Boolean).join(' ');
}

const replaced = () => Object.assign(new Error('replaced'), { name: 'AbortError' });
const maxCached = 6, maxCachedBytes = 1e8;

// The attention maps of a result, its largest part.
const mapBytes = ({ attention }) => Object.values(attention).flat(2)
  .reduce((sum, { data: values }) => sum + values.byteLength, 0);

class Model {
  constructor(index) {
    this.index = index;
    this.config = data.models[index].config;
    this.name = data.models[index].name;
    this.label = labelOf(index);
    this.tail = Promise.resolve();
    this.turn = 0;
    this.cache = new Map();
  }

  // Starts the worker at the first call.
  start(progress) {
    if (!this.started) {
      this.live = new LiveModel(this.index);
      this.started = this.live.ready(progress).then(({ lowercase }) => {
        this.lowercase = lowercase;
      });
    }
    return this.started;
  }

  queue(job) {
    const done = this.tail.then(() => this.start()).then(job);
    this.tail = done.catch(() => {});
    return done;
  }

  // Drops the page's calls that wait, and stops the one that runs.
  replace() {
    ++this.turn;
    if (this.replaceable) this.live.cancel();
  }

  replaceableJob(job) {
    const { turn } = this;
    return this.queue(async () => {
      if (turn !== this.turn) throw replaced();
      this.replaceable = true;
      try {
        return await job();
      } finally {
        this.replaceable = false;
      }
    });
  }

  async compute(text, options, progress) {
    const key = JSON.stringify([text, options]);
    this.traced = null;
    const result = await this.live.translate(text, options, progress);
    this.traced = key;
    this.cache.set(key, result);
    const bytes = () => [...this.cache.values()].reduce((sum, one) => sum + mapBytes(one), 0);
    while (this.cache.size > 1 && (this.cache.size > maxCached || bytes() > maxCachedBytes)) {
      this.cache.delete(this.cache.keys().next().value);
    }
    return result;
  }

  // progress: receives the text so far.
  translate(text, options, progress) {
    const key = JSON.stringify([text, options]);
    return this.replaceableJob(() => this.cache.get(key) ?? this.compute(text, options, progress));
  }

  // The values of one place in the pass of this call.
  values(place, text, options) {
    return this.replaceableJob(async () => {
      if (this.traced !== JSON.stringify([text, options])) await this.compute(text, options);
      return this.live.values(place);
    });
  }

  // For scripts: greedy, without changes; never dropped.
  async greedy(text, options = {}) {
    const result = await this.queue(() => this.compute(text, { beam: 1, ...options }));
    const ended = result.complete !== false && result.tokens.at(-1) === '</s>';
    return { text: result.text, tokens: ended ? result.tokens.slice(0, -1) : result.tokens,
      log_p: result.logP };
  }

  async tokens(text) {
    const { ids, tokens } = await this.queue(() => this.live.tokenize(text));
    return { ids, tokens: tokens.map((token) => token.text) };
  }
}

// The worker's side of LiveModel (client.js). A request is { number, call, ... }; the answers are
// { number, progress } any number of times, then { number, result } or { number, error }.

const pauseEvery = 30;  // ms between looks at newer messages

class Host {
  constructor() {
    this.queue = Promise.resolve();
    this.newest = 0;  // requests to translate with a lower number are obsolete
    this.channel = new MessageChannel();
  }

  receive(request) {
    if (request.call === 'cancel' || request.call === 'translate') this.newest = request.number;
    if (request.call !== 'cancel') this.queue = this.queue.then(() => this.answer(request));
  }

  async answer(request) {
    const { number } = request;
    try {
      const result = await this[request.call](request, (progress) => {
        postMessage({ number, progress });
      });
      postMessage({ number, result });
    } catch ({ name, message }) {
      postMessage({ number, error: { name, message } });
    }
  }

  load({ model, base64 }, progress) {
    this.sides = model.vocabularies.map(parseVocabulary);
    this.engine = new Engine(model.config, decodeWeights(model, base64, progress));
    this.translator = new Translator(this.engine, this.target);
    return { name: model.name, kind: model.config.kind, config: model.config,
      lowercase: this.source.isLowercase() };
  }

  get source() { return this.sides[0]; }
  get target() { return this.sides.at(-1); }

  // Makes the engine let messages in, and end if `number` is obsolete.
  watch(number) {
    let looked = performance.now();
    this.engine.pause = async () => {
      if (performance.now() - looked < pauseEvery) return;
      await new Promise((resolve) => {
        this.channel.port1.onmessage = resolve;
        this.channel.port2.postMessage(null);
      });
      looked = performance.now();
      if (number < this.newest) throw new DOMException('a newer request replaced it', 'AbortError');
    };
  }

  pieces(text) {
    const line = lineOf(text);
    return this.engine.config.kind === 'encoder' ? this.source.maskedPieces(line)
      : this.source.pieces(line);
  }

  tokenize({ text }) {
    const tokens = this.pieces(text);
    return { ids: tokens.map(({ id }) => id), tokens };
  }

  async translate({ number, text, options }, progress) {
    if (number < this.newest) throw new DOMException('a newer request replaced it', 'AbortError');
    this.watch(number);
    const pieces = this.pieces(text), source = pieces.map(({ id }) => id);
    const known = (id) => id < this.engine.vocabulary;  // a link may have others
    const idsOf = (value) => (typeof value === 'string' ? this.target.encode(lineOf(value))
      : value?.filter(known));
    const settings = { ...options, prefix: idsOf(options.prefix ?? []),
      target: idsOf(options.target),
      progress: (ids) => progress(this.text(source, ids)) };
    const run = { encoder: 'fill', decoder: 'continue' }[this.engine.config.kind] ?? 'translate';
    return this.named(await this.translator[run](source, settings), pieces, run);
  }

  // The output as text: a continuation without the text it continues.
  text(source, ids) {
    const { target } = this;
    if (this.engine.config.kind !== 'decoder') return target.decode(ids);
    const before = target.decode(source), whole = target.decode([...source, ...ids]);
    return before && whole.startsWith(before) ? whole.slice(before.length) : target.decode(ids);
  }

  // A result of the translator with the texts of all tokens.
  named(result, pieces, run) {
    const token = (id) => this.target.token(id);
    const top = (list) => list.map(({ id, logP }) => ({ id, token: token(id), logP }));
    const steps = result.steps.map((step) => ({ id: step.id, token: token(step.id),
      logP: step.logP, top: top(step.top) }));
    const special = (id, at) => ({ id, text: this.source.token(id), start: at, end: at });
    const { source } = result;
    const added = { fill: 1, continue: 0 }[run] ?? this.translator.closing.length;
    const read = Math.max(0, source.length - added), end = pieces[read - 1]?.end ?? 0;
    const tokens = run === 'fill' && source.length
      ? [special(bosId, 0), ...pieces.slice(0, read)]
      : run === 'continue' ? pieces.slice(pieces.length - read)
        : [...pieces.slice(0, read), ...source.slice(read).map((id) => special(id, end))];
    const named = { ...result, text: this.text(run === 'continue' ? source : [], result.ids),
      tokens: result.ids.map(token), steps, source: { ids: source, tokens },
      inputs: result.inputs.map((id) => ({ id, text: token(id) })),
      cut: read > 0 && read < pieces.length ? read : null };
    if (result.masks) {
      named.masks = result.masks.map((position, i) => ({ position, top: steps[i].top }));
    }
    if (result.tree) {
      named.tree = { nodes: result.tree.nodes.map((node) => ({ ...node, token: token(node.id) })) };
    }
    return named;
  }

  async values({ place }) {
    this.engine.pause = async () => {};
    return this.translator.values(place);
  }
}

const host = new Host();
addEventListener('message', ({ data: request }) => host.receive(request));

// Vocabularies: text to token ids and back, the same as lib/subword does. There are three kinds:
// SentencePiece models, token lists of converted models, and lists of words.

const [padId, unkId, bosId, eosId] = [0, 1, 2, 3];

// The tokens of a vocabulary by id. texts and ids are in bytes; types as those of pieces.
class TokenList {
  constructor(texts, types) {
    this.texts = texts;
    this.types = types;
    this.byteOf = new Int16Array(texts.length).fill(-1);
    types.forEach((type, id) => {
      if (type === bytePiece) this.byteOf[id] = parseInt(texts[id].slice(3, 5), 16);
    });
  }

  get ids() {
    this.map ??= new Map(this.texts.map((text, id) => [text, id]).reverse());
    return this.map;
  }

  // The text of tokens. `prefix`: without the space that begins it; `trims`: without any spaces
  // there; `unknown`: the text of an unknown token.
  join(ids, { prefix, trims, unknown }) {
    let [text, run, begun] = ['', '', false];
    const flush = () => {
      for (let at = 0; at < run.length;) {
        const character = validCharacter(run, at);
        text += character || '\xEF\xBF\xBD';
        at += character.length || 1;
      }
      run = '';
    };
    for (const id of ids) {
      if (this.byteOf[id] >= 0) {
        run += String.fromCharCode(this.byteOf[id]);
        continue;
      }
      flush();
      if (this.types[id] === controlPiece) continue;
      const first = !begun && text === '' && (prefix || trims);
      let piece = this.types[id] === unknownPiece ? unknown : this.texts[id];
      if (first && this.types[id] !== unknownPiece && piece.startsWith(spaceSign)) {
        piece = piece.slice(spaceSign.length);
        begun = !trims;
      }
      text += piece.replaceAll(spaceSign, ' ');
    }
    flush();
    return text;
  }
}

// What all vocabularies share. A subclass has `list`, split(bytes) -> [{ id, start, end }] and
// join(ids) -> bytes.
class Vocabulary {
  constructor(list, forbidden) {
    this.list = list;
    this.forbidden = forbidden; // ids that are never output
    this.size = list.texts.length;
    this.byteOf = list.types.includes(bytePiece) ? list.byteOf : null;
    this.firstToken = -1; // what the decoder reads after <s>
    this.closing = [eosId]; // what ends a source
  }

  token(id) {
    return fromUtf8(this.list.texts[id]);
  }

  isByte(id) {
    return this.list.byteOf[id] >= 0;
  }

  idOf(text) {
    return this.list.ids.get(toUtf8(text)) ?? -1;
  }

  // The ids of one line of text.
  encode(text) {
    return this.split(toUtf8(text)).map(({ id }) => id);
  }

  // Whether a to z have tokens and A to Z have none.
  isLowercase() {
    const known = (letter) => this.encode(letter).every((id) => id !== unkId && !this.isByte(id));
    const letters = [...'abcdefghijklmnopqrstuvwxyz'];
    return letters.some(known) && !letters.some((letter) => known(letter.toUpperCase()));
  }

  decode(ids) {
    return fromUtf8(this.join(ids)).replaceAll('\n', ' ');
  }

  // Tokens for display: [{ id, text, character }], where only byte tokens of a complete character
  // have the last.
  show(ids) {
    const tokens = Array.from(ids, (id) => ({ id, text: this.token(id) }));
    for (let i = 0; i < tokens.length; ++i) {
      const run = tokens.slice(i, i + 4).map(({ id }) => this.list.byteOf[id]);
      const length = characterBytes(String.fromCharCode(run[0] & 0xFF), 0);
      const bytes = run.slice(0, length).filter((byte) => byte >= 0);
      const character = bytes.length === length
        ? validCharacter(String.fromCharCode(...bytes), 0) : '';
      if (character === '') continue;
      for (let k = 0; k < length; ++k) tokens[i + k].character = fromUtf8(character);
      i += length - 1;
    }
    return tokens;
  }

  // encode() for display: as show(), with the places in the text, in units of its length.
  pieces(text) {
    const bytes = toUtf8(text);
    const places = []; // by byte
    for (let at = 0; places.length < bytes.length;) {
      const count = characterBytes(bytes, places.length);
      for (let i = 0; i < count; ++i) places.push(at);
      at += count === 4 ? 2 : 1;
    }
    places.push(text.length);
    const tokens = this.split(bytes);
    const shown = this.show(tokens.map(({ id }) => id));
    return tokens.map(({ start, end }, i) =>
      ({ ...shown[i], start: places[start], end: places[end] }));
  }

  // pieces() of a text with masks, which are the token <pad>; white space around one is no token.
  maskedPieces(text) {
    const out = [];
    let at = 0;
    for (const part of text.split(/(\p{White_Space}*<mask>\p{White_Space}*)/u)) {
      const mask = part.indexOf('<mask>');
      const tokens = mask >= 0 ? [{ id: padId, text: '<mask>', start: mask, end: mask + 6 }]
        : isBlank(part) ? [] : this.pieces(part);
      for (const token of tokens)
        out.push({ ...token, start: token.start + at, end: token.end + at });
      at += part.length;
    }
    return out;
  }
}

class SubwordVocabulary extends Vocabulary {
  constructor(bytes) {
    const model = new PieceModel(bytes, true);
    super(new TokenList(model.texts, model.types), [padId, unkId, bosId]);
    this.model = model;
    // Sentinels stand for masked spans; the space before one is not a token.
    const users = Array.from(model.users.ids);
    this.sentinels = new Set(
      users.filter(([text]) => text.startsWith('<extra_id_')).map(([, id]) => id));
    this.space = model.pieces.ids.get(spaceSign);
  }

  split(bytes) {
    const tokens = this.model.split(bytes);
    return tokens.filter(({ id }, i) =>
      id !== this.space || !this.sentinels.has(tokens[i + 1]?.id));
  }

  join(ids) {
    const { normalizer, denormalizer, unknownText } = this.model;
    const spaces = this.space === undefined ? [] : [this.space];
    const spaced = Array.from(ids).flatMap((id) => this.sentinels.has(id) ? [...spaces, id] : id);
    const text = this.list.join(spaced, { ...normalizer, unknown: unknownText });
    return denormalizer.map ? denormalizer.apply(text).text : text;
  }
}

// The vocabulary of a converted model: a list of tokens, and a model that splits text.
class MappedVocabulary extends Vocabulary {
  constructor(bytes) {
    const end = bytes.indexOf('\n');
    const content = JSON.parse(fromUtf8(bytes.slice(0, end)));
    const texts = content.pieces.map(toUtf8);
    const controls = new Set([padId, unkId, bosId, eosId, ...content.controls ?? []]);
    const types = texts.map((text, id) => controls.has(id) ? controlPiece
      : content.bytes && /^<0x[0-9A-F]{2}>$/.test(text) ? bytePiece : normalPiece);
    super(new TokenList(texts, types), [padId, bosId, ...content.forbidden ?? []]);
    this.content = content;
    this.opening = content.prefix ?? [];
    this.firstToken = content.first ?? -1;
    if (content.closing?.length > 0) this.closing = content.closing;
    this.ends = content.ends ?? [];
    this.model = new PieceModel(bytes.slice(end + 1), false);
  }

  split(bytes) {
    const out = this.opening.map((id) => ({ id, start: 0, end: 0 }));
    let begin = 0;
    if (this.content.tags && bytes.startsWith('>>') && bytes.indexOf('<<') > 0) {
      const end = bytes.indexOf('<<') + 2, id = this.list.ids.get(bytes.slice(0, end));
      if (id > eosId) { // else text
        begin = end;
        out.push({ id, start: 0, end });
      }
    }
    const tokens = this.model.split(bytes.slice(begin));
    if (tokens.length === 0 && out.length === this.opening.length) return [];
    for (const { id, text, start, end } of tokens) {
      const name = id === this.model.unknown ? text : this.model.texts[id];
      const ours = this.list.ids.get(name);
      const usable = ours !== undefined && this.list.types[ours] !== controlPiece;
      out.push({ id: usable ? ours : unkId, start: start + begin, end: end + begin });
    }
    return out;
  }

  join(ids) {
    return this.list.join(ids, { prefix: true, trims: false, unknown: '' });
  }

  decode(ids) {
    return super.decode(ids).replace(/^ +| +$/g, '');
  }
}

class WordVocabulary extends Vocabulary {
  constructor(bytes) {
    const texts = bytes.slice(0, -1).split('\n');
    super(new TokenList(texts, texts.map((_, id) => id > eosId ? normalPiece : controlPiece)),
      [padId, bosId]);
  }

  split(bytes) {
    const words = [...bytes.matchAll(/[^\0-\x20\x7F]+/g)];
    return words.map((word) => {
      const id = this.list.ids.get(word[0]) ?? unkId;
      return { id: id > eosId ? id : unkId, start: word.index, end: word.index + word[0].length };
    });
  }

  join(ids) {
    const shown = Array.from(ids).filter((id) => ![padId, bosId, eosId].includes(id));
    return shown.map((id) => this.list.texts[id]).join(' ');
  }
}

// The vocabulary in a model file; `bytes` in base64.
function parseVocabulary({ bytes }) {
  const content = atob(bytes);
  const magics = { 'tx-words 1\n': WordVocabulary, 'tx-pieces 1\n': MappedVocabulary };
  for (const [magic, kind] of Object.entries(magics))
    if (content.startsWith(magic)) return new kind(content.slice(magic.length));
  return new SubwordVocabulary(content);
}

// Whether a line has only white space (Unicode's White_Space).
function isBlank(text) {
  return /^[\t-\r \x85\xA0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]*$/.test(text);
}

// The text of an input field as one line, as tx-decode reads it: offsets stay the same; '' if it is
// blank.
function lineOf(text) {
  const line = text.replace(/[\r\n]/g, ' ');
  return isBlank(line) ? '' : line;
}

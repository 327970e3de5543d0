// SentencePiece models as tokenizers: normalisation, unigram models, byte-pair encoding.
//
// Text here and in tokens.js ("bytes") is mostly a string with one character per byte of UTF-8, as
// atob() returns it, so that lengths, offsets and tables are those of the C++ code.

const spaceSign = '\xE2\x96\x81'; // U+2581, SentencePiece's space
const hiddenSign = '\xFF\xFF\xFF'; // replaces U+2581 in the input; valid UTF-8 does not contain it
// Of sentencepiece_model.proto.
const [unigramModel, wordModel, characterModel] = [1, 3, 4];
const [normalPiece, unknownPiece, controlPiece, userPiece, unusedPiece, bytePiece] =
  [1, 2, 3, 4, 5, 6];

const scoreBits = new Uint32Array(1);
const scoreOfBits = new Float32Array(scoreBits.buffer);
const utf8Encoder = new TextEncoder();
const utf8Decoder = new TextDecoder('utf-8', { ignoreBOM: true });

// Lone surrogates become U+FFFD.
function toUtf8(text) {
  let bytes = '';
  for (const byte of utf8Encoder.encode(text)) bytes += String.fromCharCode(byte);
  return bytes;
}

// Ill-formed sequences become U+FFFD.
function fromUtf8(bytes) {
  return utf8Decoder.decode(Uint8Array.from(bytes, (c) => c.charCodeAt(0)));
}

function characterBytes(bytes, at) {
  const lead = bytes.charCodeAt(at);
  return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 || lead === 0xFF ? 3 : 4;
}

// The character that begins at `at`, or '' if its bytes are not valid UTF-8.
function validCharacter(bytes, at) {
  const character = bytes.slice(at, at + characterBytes(bytes, at));
  return toUtf8(fromUtf8(character)) === character ? character : '';
}

function uint32At(bytes, at) {
  return (bytes.charCodeAt(at) | bytes.charCodeAt(at + 1) << 8 | bytes.charCodeAt(at + 2) << 16 |
    bytes.charCodeAt(at + 3) << 24) >>> 0;
}

// Reads the fields of a Protocol Buffers message, which is bytes[begin, end).
class FieldReader {
  constructor(bytes, begin = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = begin;
    this.end = end;
    this.number = this.value = this.begin = 0;
  }

  // Moves to the next field; false at the end. Numbers are in `value`; other content is
  // bytes[begin, at).
  next() {
    if (this.at >= this.end) return false;
    const key = this.varint();
    this.number = key >> 3;
    if ((key & 7) === 0) {
      this.value = this.varint();
      return true;
    }
    const length = (key & 7) === 2 ? this.varint() : (key & 7) === 1 ? 8 : 4;
    this.begin = this.at;
    this.at += length;
    return true;
  }

  varint() {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = this.bytes.charCodeAt(this.at++);
      value += (byte & 127) * unit;
      if (!(byte >= 128)) return value;
    }
  }

  content() {
    return this.bytes.slice(this.begin, this.at);
  }

  message() {
    return new FieldReader(this.bytes, this.begin, this.at);
  }

  float() {
    scoreBits[0] = uint32At(this.bytes, this.begin);
    return scoreOfBits[0];
  }
}

// The replacement rules of a normaliser: the size of a trie, a double-array trie (Darts) of 32-bit
// units, and the replacements, each ended by NUL.
class Charsmap {
  constructor(bytes) {
    const size = uint32At(bytes, 0);
    this.units = new Uint32Array(size / 4);
    for (let i = 0; i < size / 4; ++i) this.units[i] = uint32At(bytes, 4 + 4 * i);
    this.texts = bytes.slice(4 + size);
  }

  // The longest rule that applies at `at`: { length, text }; null if there is none.
  find(bytes, at) {
    let [length, value] = [0, 0];
    let [node, unit] = [0, this.units[0]];
    const base = () => node ^ (unit >>> 10) << ((unit & 0x200) >>> 6);
    for (let i = at; i < bytes.length; ++i) {
      const label = bytes.charCodeAt(i);
      node = base() ^ label;
      unit = this.units[node];
      if ((unit & 0x800000FF) !== label) break;
      if (!(unit & 0x100)) continue;
      length = i + 1 - at;
      value = this.units[base()] & 0x7FFFFFFF;
    }
    if (length === 0) return null;
    return { length, text: this.texts.slice(value, this.texts.indexOf('\0', value)) };
  }
}

// Texts with ids, to be found at any place of a longer text.
class PieceTable {
  constructor() {
    this.ids = new Map();
    this.longest = new Uint32Array(256); // bytes, by first byte
  }

  add(bytes, id) {
    this.ids.set(bytes, id);
    const first = bytes.charCodeAt(0);
    this.longest[first] = Math.max(this.longest[first], bytes.length);
  }

  // Calls visit(end, id) for each entry that begins at `at`, the shortest first.
  each(bytes, at, visit) {
    const limit = Math.min(bytes.length, at + this.longest[bytes.charCodeAt(at)]);
    for (let end = at; end < limit;) {
      end += characterBytes(bytes, end);
      const id = this.ids.get(bytes.slice(at, end));
      if (id !== undefined) visit(end, id);
    }
  }

  // The end of the longest entry that begins at `at`; `at` if there is none.
  longestEnd(bytes, at) {
    let longest = at;
    this.each(bytes, at, (end) => { longest = end; });
    return longest;
  }
}

// SentencePiece's normaliser. `spec`: the bytes of a NormalizerSpec; `users`: user-defined pieces,
// which stay unchanged; `suffix`: a space belongs to the word before it.
class Normalizer {
  constructor(spec, users, suffix) {
    this.users = users;
    this.suffix = suffix;
    this.map = null;
    this.prefix = this.trims = this.escapes = true;
    for (const field = new FieldReader(spec); field.next();) {
      if (field.number === 2 && field.at > field.begin) this.map = new Charsmap(field.content());
      if (field.number === 3) this.prefix = field.value !== 0;
      if (field.number === 4) this.trims = field.value !== 0;
      if (field.number === 5) this.escapes = field.value !== 0;
    }
  }

  // The next part of the text: its length and its replacement.
  next(bytes, at) {
    const user = this.users.longestEnd(bytes, at);
    const rule = user === at && this.map ? this.map.find(bytes, at) : null;
    const end = user > at ? user : at + characterBytes(bytes, at);
    return rule ?? { length: end - at, text: bytes.slice(at, end) };
  }

  // The normalised text, and the offset in the input of each of its bytes and of its end.
  apply(bytes) {
    const space = this.escapes ? spaceSign : ' ';
    const origins = [];
    let text = '';
    let at = 0;
    const add = (piece) => {
      text += piece;
      for (let i = 0; i < piece.length; ++i) origins.push(at);
    };
    for (let part; this.trims && at < bytes.length; at += part.length) {
      part = this.next(bytes, at);
      if (part.text !== ' ') break;
    }
    if (at >= bytes.length) return { text, origins: [at] };
    if (this.prefix && !this.suffix) add(space);
    for (let part, afterSpace = this.trims; at < bytes.length; at += part.length) {
      part = this.next(bytes, at);
      const piece = afterSpace ? part.text.replace(/^ +/, '') : part.text;
      add(piece.replaceAll(' ', space));
      if (piece !== '') afterSpace = this.trims && piece.endsWith(' ');
    }
    while (this.trims && text.endsWith(space)) {
      text = text.slice(0, -space.length);
      at = origins[text.length];
      origins.length = text.length;
    }
    if (this.prefix && this.suffix) add(space);
    origins.push(at);
    return { text, origins };
  }
}

// A SentencePiece model as a tokenizer. With `hides`, and if the model has byte pieces, U+2581 in
// the input is encoded as its bytes instead of as a space.
class PieceModel {
  constructor(bytes, hides) {
    this.texts = [];
    this.types = [];
    this.scores = [];
    [this.lowest, this.highest] = [Infinity, 2 ** -126]; // scores
    this.pieces = new PieceTable(); // what text is split into, besides bytes
    this.users = new PieceTable();
    this.byteIds = [];
    this.kind = unigramModel;
    this.suffix = false;
    this.hasBytes = false;
    this.unknownText = ' \xE2\x81\x87 '; // U+2047
    let [normalizer, denormalizer] = ['', ''];
    for (const field = new FieldReader(bytes); field.next();) {
      if (field.number === 1) this.readPiece(field.message());
      if (field.number === 2) this.readTraining(field.message());
      if (field.number === 3) normalizer += field.content();  // a second one is merged
      if (field.number === 5) denormalizer = field.content();
    }
    this.unknown = this.types.indexOf(unknownPiece);
    this.hides = hides && this.hasBytes;
    this.normalizer = new Normalizer(normalizer, this.users, this.suffix);
    this.denormalizer = new Normalizer(denormalizer, new PieceTable(), false);
    // Whether words can be split separately.
    this.wordwise = this.texts.every((text) => text.indexOf(spaceSign, 1) < 0);
  }

  readPiece(field) {
    const id = this.texts.length;
    let [text, score, type] = ['', 0, normalPiece];
    while (field.next()) {
      if (field.number === 1) text = field.content();
      if (field.number === 2) score = field.float();
      if (field.number === 3) type = field.value;
    }
    this.texts.push(text);
    this.scores.push(score);
    this.types.push(type);
    if (type === normalPiece) {
      this.lowest = Math.min(this.lowest, score);
      this.highest = Math.max(this.highest, score);
    }
    if (type === bytePiece) this.byteIds[parseInt(text.slice(3, 5), 16)] = id;
    if (type === userPiece) this.users.add(text, id);
    if (type === normalPiece || type === userPiece || type === unusedPiece)
      this.pieces.add(text, id);
  }

  readTraining(field) {
    while (field.next()) {
      if (field.number === 3) this.kind = field.value;
      if (field.number === 24) this.suffix = field.value !== 0;
      if (field.number === 35) this.hasBytes = field.value !== 0;
      if (field.number === 44) this.unknownText = field.content();
    }
  }

  // The pieces of a text: [{ id, text, start, end }], the last two as offsets in `bytes`. An
  // unknown character becomes bytes, or one piece with the unknown characters before it.
  split(bytes) {
    const input = this.hides ? bytes.replaceAll(spaceSign, hiddenSign) : bytes;
    const { text, origins } = this.normalizer.apply(input);
    const out = [];
    const add = (id, begin, end) => {
      const piece = text.slice(begin, end).replace(hiddenSign, spaceSign);
      const place = { start: origins[begin], end: origins[end] };
      const last = out.at(-1);
      if (id === this.unknown && this.hasBytes) {
        for (const byte of piece) {
          out.push({ id: this.byteIds[byte.charCodeAt(0)], ...place });
        }
      } else if (id === this.unknown && last?.id === id) {
        last.text += piece;
        last.end = place.end;
      } else {
        out.push({ id, text: piece, ...place });
      }
    };
    if (this.kind === unigramModel) this.findBestPath(text, add);
    else if (this.kind === wordModel) this.splitIntoWords(text, add);
    else this.splitIntoSymbols(text, add);
    return out;
  }

  // The path of pieces with the highest sum of scores (Viterbi), which is rounded to 32 bits after
  // each piece, as in SentencePiece.
  findBestPath(text, add) {
    const sums = new Float32Array(text.length + 1);
    const starts = new Int32Array(text.length + 1).fill(-1);
    const ids = new Int32Array(text.length + 1);
    const offer = (at, end, id, sum) => {
      if (starts[end] >= 0 && !(sum > sums[end])) return;
      sums[end] = sum;
      starts[end] = at;
      ids[end] = id;
    };
    const unknownScore = Math.fround(this.lowest - 10);
    for (let at = 0; at < text.length;) {
      const next = at + characterBytes(text, at);
      let single = false;
      this.pieces.each(text, at, (end, id) => {
        if (this.types[id] === unusedPiece) return;
        const score = this.types[id] === userPiece
          ? Math.fround((end - at) * this.highest) - 0.1 : this.scores[id];
        offer(at, end, id, sums[at] + score);
        single ||= end === next;
      });
      if (!single) offer(at, next, this.unknown, Math.fround(sums[at] + unknownScore));
      at = next;
    }
    const path = [];
    for (let end = text.length; end > 0; end = starts[end]) path.push(end);
    for (const end of path.reverse()) add(ids[end], starts[end], end);
  }

  splitIntoWords(text, add) {
    let at = 0;
    if (text === '') return;
    for (const word of text.split(/(?=\xE2\x96\x81)/)) add(this.idOf(word), at, at += word.length);
  }

  // User-defined pieces stay; the characters between them are merged, where possible word by word.
  splitIntoSymbols(text, add) {
    let cuts = [0];
    for (let at = 0; at < text.length;) {
      const user = this.users.longestEnd(text, at);
      if (user > at || (this.wordwise && text.startsWith(spaceSign, at))) {
        this.merge(text, cuts, add);
        cuts = [user];
      }
      if (user > at) add(this.users.ids.get(text.slice(at, user)), at, user);
      at = user > at ? user : at + characterBytes(text, at);
      if (user < at) cuts.push(at);
    }
    this.merge(text, cuts, add);
  }

  // Byte-pair encoding of the characters between the offsets `cuts`: of all pairs whose text is a
  // piece, the one with the highest score is merged first, from left to right.
  merge(text, cuts, add) {
    const halves = new Map(); // of unused pieces, which are split again: where
    const scoreAt = (i) => {
      const piece = text.slice(cuts[i], cuts[i + 2]);
      const id = this.pieces.ids.get(piece);
      if (id === undefined || this.kind === characterModel) return -Infinity;
      if (this.types[id] === unusedPiece) halves.set(piece, cuts[i + 1] - cuts[i]);
      return this.scores[id];
    };
    const scores = cuts.slice(2).map((_, i) => scoreAt(i));
    for (;;) {
      let best = 0;
      for (let i = 1; i < scores.length; ++i) if (scores[i] > scores[best]) best = i;
      if (!(scores[best] > -Infinity)) break;
      cuts.splice(best + 1, 1);
      scores.splice(best, 1);
      if (best > 0) scores[best - 1] = scoreAt(best - 1);
      if (best < scores.length) scores[best] = scoreAt(best);
    }
    const addParts = (begin, end) => {
      const piece = text.slice(begin, end);
      const half = halves.get(piece);
      if (half === undefined) return add(this.idOf(piece), begin, end);
      addParts(begin, begin + half);
      addParts(begin + half, end);
    };
    for (let i = 0; i + 1 < cuts.length; ++i) addParts(cuts[i], cuts[i + 1]);
  }

  idOf(piece) {
    return this.pieces.ids.get(piece) ?? this.unknown;
  }
}

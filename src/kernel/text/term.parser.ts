/** Scripts without spaces between words, or with attached particles: indexed by pairs of characters. */
const UNSPACED = ['Han', 'Hiragana', 'Katakana', 'Bopomofo', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => `\\p{scx=${script}}`)
  .join('');
const WORD = '\\p{L}\\p{M}\\p{N}';
/** A sequence of such characters, or a word of others. */
const PIECE = new RegExp(`([[${UNSPACED}]&&[${WORD}]]+)|[[${WORD}]--[${UNSPACED}]]+`, 'gv');
const APOSTROPHE = /(?<=\p{L})['’](?=\p{L})/gu;
const DIACRITIC = /[\u0300-\u036f]/g;

/** The index terms of a text, in order, with repetitions. */
export function indexTerms(text: string): string[] {
  return pieces(text).flatMap(({ piece, isUnspaced }) => {
    if (!isUnspaced) return [stem(piece)];
    const characters = Array.from(piece);
    return [...characters, ...pairs(characters)];
  });
}

/** The search terms of a query: for a sequence without spaces its pairs, or its only character. */
export function queryTerms(query: string, most: number): string[] {
  const terms = new Set<string>();
  for (const { piece, isUnspaced } of pieces(query)) {
    const characters = isUnspaced ? Array.from(piece) : [];
    for (const term of characters.length > 1 ? pairs(characters) : [stem(piece)]) {
      if (terms.size === most) return [...terms];
      terms.add(term);
    }
  }
  return [...terms];
}

function pieces(text: string): { piece: string; isUnspaced: boolean }[] {
  return [...folded(text).matchAll(PIECE)].map((match) => ({ piece: match[0], isUnspaced: match[1] !== undefined }));
}

/** Folds case, width and accents: `Café` equals `cafe`, `ａ` equals `a`. */
function folded(text: string): string {
  return text.toLowerCase().normalize('NFKD').replace(DIACRITIC, '').normalize('NFC').replace(APOSTROPHE, '');
}

function pairs(characters: readonly string[]): string[] {
  return characters.slice(1).map((character, at) => characters[at]! + character);
}

/** Reduces English plurals and third persons to their stem: Harman's "s" stemmer (JASIS 42, 1991). */
function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  if (/[^ea]ies$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/[^aeo]es$/.test(word)) return word.slice(0, -1);
  return /[^us]s$/.test(word) ? word.slice(0, -1) : word;
}

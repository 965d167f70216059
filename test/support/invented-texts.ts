const CONSONANTS = 'b c d f g h j k l m n p r s t v w z br ch fl gr pl qu sh st th tr'.split(' ');
const VOWELS = 'a e i o u ai ea oo'.split(' ');
const ENDINGS = ['', '', 'n', 'r', 's', 'l', 'nd', 'ck', 'ng'];
const ALPHANUMERIC = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** First and last character of the letters (or signs) that scripts are written with, by name. */
export const SCRIPTS: Readonly<Record<string, readonly [from: number, to: number]>> = {
  'small Latin': [0x61, 0x7a],
  'capital Latin': [0x41, 0x5a],
  'ASCII signs': [0x21, 0x2f],
  'Latin-1': [0xc0, 0xff],
  'extended Latin': [0x100, 0x24f],
  'Vietnamese letters': [0x1ea0, 0x1ef9],
  'combining marks': [0x300, 0x36f],
  Greek: [0x3b1, 0x3c9],
  'all Greek': [0x370, 0x3ff],
  'small Cyrillic': [0x430, 0x44f],
  'capital Cyrillic': [0x410, 0x42f],
  'all Cyrillic': [0x400, 0x4ff],
  Armenian: [0x561, 0x586],
  Hebrew: [0x5d0, 0x5ea],
  Arabic: [0x621, 0x64a],
  'all Arabic': [0x600, 0x6ff],
  Devanagari: [0x905, 0x94d],
  Bengali: [0x985, 0x9cd],
  Gujarati: [0xa85, 0xacd],
  Tamil: [0xb85, 0xbcd],
  Telugu: [0xc05, 0xc4d],
  Thai: [0xe01, 0xe4e],
  Lao: [0xe81, 0xecd],
  Tibetan: [0xf40, 0xf6c],
  Burmese: [0x1000, 0x103e],
  Georgian: [0x10d0, 0x10f0],
  Ethiopic: [0x1200, 0x135a],
  Khmer: [0x1780, 0x17d3],
  'general signs': [0x2010, 0x205e],
  arrows: [0x2190, 0x21ff],
  'technical signs': [0x2300, 0x23ff],
  'ideographic signs': [0x3000, 0x303f],
  Hiragana: [0x3041, 0x3096],
  Katakana: [0x30a1, 0x30fa],
  'rare Han': [0x3400, 0x4dbf],
  Han: [0x4e00, 0x9fff],
  Hangul: [0xac00, 0xd7a3],
  'full-width': [0xff01, 0xff9f],
  emoji: [0x1f300, 0x1f64f],
  'mathematical letters': [0x1d400, 0x1d7ff],
  'Han beyond the BMP': [0x2_0000, 0x2_a6df],
};

/** Texts of no language, by name: pseudo-words, identifiers, keys and hashes, random letters. */
export function inventedTexts(): Record<string, string> {
  const next = generator();
  const pick = (from: string | readonly string[]): string => from[next() % from.length]!;
  const some = (least: number, most: number): number => least + (next() % (most - least + 1));
  const string = (from: string, length: number): string => times(length, () => pick(from)).join('');
  const syllables = (count: number): string => times(count, () => pick(CONSONANTS) + pick(VOWELS)).join('');
  const word = (): string => syllables(some(1, 3)) + pick(ENDINGS);
  const name = (): string => capitalized(word());
  const bytes = (length: number): Buffer => Buffer.from(times(length, () => next() & 0xff));
  const key = (length: number): string => bytes(length).toString('hex');
  const makers: Record<string, () => string> = {
    'invented words': word,
    'short invented words': () => pick('bdfklmnprstv') + pick('aeiou') + pick('bdfklmnprstv') + pick('aeiou'),
    'invented names': name,
    'invented capitals': () => word().toUpperCase(),
    'invented words with accents': () => word().replace(/[aeiou]/g, () => pick('áéíóúàèùâêîôûäëïöüãõåøæ')),
    camelCase: () => word() + name() + name(),
    snake_case: () => `${word()}_${word()}`,
    'kebab-case': () => `${word()}-${word()}-${word()}`,
    'letters with a sign': () => `${string('abcdefghijklmnopqrstuvwxyz', some(1, 4))}${pick('._-/:$@')}`,
    'random words': () => string('abcdefghijklmnopqrstuvwxyz', some(2, 10)),
    'random mixed words': () => string(ALPHANUMERIC, some(2, 12)),
    UUIDs: () => [4, 2, 2, 2, 6].map(key).join('-'),
    hashes: () => key(20),
    'short hashes': () => key(4),
    'base64 words': () => bytes(some(6, 24)).toString('base64'),
    'base64url words': () => bytes(32).toString('base64url'),
    JWTs: () =>
      [JSON.stringify({ sub: word() }), key(8)].map((part) => Buffer.from(part).toString('base64url')).join('.'),
    'Russian-like words': () => times(some(2, 4), () => pick('бвгдзклмнпрст') + pick('аеиоуя')).join(''),
    'Greek-like words': () => times(some(2, 4), () => pick('βγδζκλμνπρστ') + pick('αειουω')).join(''),
  };
  const texts = Object.entries(makers).map(([kind, make]) => [kind, times(100, make).join(' ')]);
  const scripts = Object.entries(SCRIPTS).flatMap(([script, [from, to]]) => {
    const letters = (count: number): string =>
      times(count, () => String.fromCodePoint(from + (next() % (to - from + 1)))).join('');
    return [
      [`${script} at random`, letters(300)],
      [`words of ${script} at random`, times(60, () => letters(some(1, 8))).join(' ')],
    ];
  });
  return Object.fromEntries([...texts, ...scripts, ['endless syllables', syllables(300)]]) as Record<string, string>;
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Non-negative numbers of 31 bits, the same in each run: a linear congruential generator, its high bits. */
function generator(): () => number {
  let state = 1n;
  return () => {
    state = BigInt.asUintN(64, state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n);
    return Number(state >> 33n);
  };
}

function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

/**
 * What characters beyond ASCII cost, in hundredths of a token, by script: the dearer of o200k_base and cl100k_base over
 * names and messages in that script (Intl.DisplayNames, zod's translations), where words and syllables are tokens.
 * Where the vocabularies have few of them, a character costs nearly its UTF-8 bytes.
 */
interface Script {
  readonly from: number;
  /** Inclusive. */
  readonly to: number;
  /** Cost in a word of its script. */
  readonly inWord: number;
  /** Cost right after another script, where it can be no part of a word; by default the same. */
  readonly alone?: number;
  /** Whether words are made of ASCII letters with some of these: two in a row are as if alone. */
  readonly isAccented?: boolean;
}

const TWO_BYTES = 200;
const THREE_BYTES = 295;

/** Later ranges win over earlier ones. */
const SCRIPTS: readonly Script[] = [
  { from: 0x80, to: 0x7ff, inWord: TWO_BYTES },
  { from: 0x800, to: 0xffff, inWord: THREE_BYTES },
  { from: 0xa0, to: 0xbf, inWord: 105 },
  { from: 0xc0, to: 0xff, inWord: 115, alone: 135, isAccented: true },
  { from: 0x100, to: 0x17f, inWord: 130, alone: 190, isAccented: true },
  { from: 0x370, to: 0x3ff, inWord: 115, alone: 185 },
  { from: 0x400, to: 0x45f, inWord: 80, alone: 140 },
  { from: 0x5d0, to: 0x5ea, inWord: 130, alone: 185 },
  { from: 0x60c, to: 0x6ff, inWord: 115, alone: 185 },
  { from: 0x660, to: 0x669, inWord: TWO_BYTES },
  { from: 0x6f0, to: 0x6f9, inWord: TWO_BYTES },
  { from: 0x900, to: 0x97f, inWord: 140, alone: 190 },
  { from: 0x966, to: 0x96f, inWord: 200 },
  { from: 0x980, to: 0x9ff, inWord: 155, alone: 250 },
  { from: 0x9e6, to: 0x9ef, inWord: 250 },
  { from: 0xa00, to: 0xdff, inWord: 210, alone: 280 },
  { from: 0xb80, to: 0xbff, inWord: 170, alone: 250 },
  { from: 0xe00, to: 0xe7f, inWord: 125, alone: 175 },
  { from: 0xe80, to: 0xeff, inWord: 225, alone: 280 },
  { from: 0x1000, to: 0x10ff, inWord: 215, alone: 280 },
  { from: 0x1040, to: 0x1049, inWord: THREE_BYTES },
  { from: 0x1780, to: 0x17ff, inWord: 205, alone: 280 },
  { from: 0x1e00, to: 0x1eff, inWord: 195, alone: 245 },
  { from: 0x2000, to: 0x206f, inWord: 185 },
  { from: 0x2010, to: 0x2026, inWord: 105 },
  { from: 0x2070, to: 0x27ff, inWord: 230 },
  { from: 0x2500, to: 0x257f, inWord: 190 },
  { from: 0x3000, to: 0x303f, inWord: 170 },
  { from: 0x3000, to: 0x3002, inWord: 105 },
  { from: 0x3008, to: 0x3011, inWord: 130 },
  { from: 0x3041, to: 0x309f, inWord: 120, alone: 130 },
  { from: 0x30a0, to: 0x30ff, inWord: 135 },
  { from: 0x4e00, to: 0x9fff, inWord: 228 },
  { from: 0xac00, to: 0xd7a3, inWord: 246 },
  // Half of a character: it becomes U+FFFD, which is one token. Whole pairs are looked at before.
  { from: 0xd800, to: 0xdfff, inWord: 100 },
  { from: 0xfe00, to: 0xfe0f, inWord: 150 },
  { from: 0xff00, to: 0xffef, inWord: 190 },
  { from: 0xff08, to: 0xff1f, inWord: 130 },
];

/** Characters that every vocabulary has: what most Chinese, Japanese and Korean texts are made of. */
const FREQUENT_HAN =
  '的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难神数件安表原车白应路期叫死常提感金何更反合放做系计或司利受光王果亲界及今京务制解各任至清物台象记边共风战干接它许八特觉望直服毛林题建南度统色字请交爱让认算论百吃义科怎元社术结六功指思非流每青管夫连远资队跟带花快条院变联言权往展该領會這個們來時對發經學後為國說過還開長現問間關東車電';
const FREQUENT_HANGUL =
  '이다는의에을가고하지를은기한사로인도나시자대어리서해수정들일그부전있아으라스만보제여구장면게상성주원국과비동니공경오유트미과할습세안요것조우당선적건신소마무방내위연모발된들했생';

/** Astral characters: emoji, flags and letters for mathematics, rare Han, the rest. */
const EMOJI = 280;
const MATHEMATICS = 295;
const ASTRAL = 390;

const ACCENTED = 0;
const inWord = new Uint16Array(0x1_0000);
const alone = new Uint16Array(0x1_0000);
const scripts = new Uint8Array(0x1_0000);
for (const [index, script] of SCRIPTS.entries()) {
  inWord.fill(script.inWord, script.from, script.to + 1);
  alone.fill(script.alone ?? script.inWord, script.from, script.to + 1);
  scripts.fill(script.isAccented ? ACCENTED : index + 1, script.from, script.to + 1);
}
markFrequent(FREQUENT_HAN, 130);
markFrequent(FREQUENT_HANGUL, 115);

function markFrequent(characters: string, cost: number): void {
  for (let i = 0; i < characters.length; i++) {
    inWord[characters.charCodeAt(i)] = cost;
    alone[characters.charCodeAt(i)] = cost;
  }
}

/** Hundredths of a token of the character `code` of the BMP beyond ASCII, after the character `previous`. */
export function wideCost(code: number, previous: number): number {
  const isInWord = previous < 0x80 || (scripts[previous] === scripts[code] && scripts[code] !== ACCENTED);
  return (isInWord ? inWord : alone)[code]!;
}

/** Hundredths of a token of the character that begins with the high surrogate `high`. */
export function astralCost(high: number): number {
  if (high >= 0xd83c && high <= 0xd83e) return EMOJI;
  return high === 0xd835 ? MATHEMATICS : ASTRAL;
}

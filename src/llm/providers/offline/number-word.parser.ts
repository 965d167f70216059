import { ONES, TENS } from './offline-words.data.js';

const SCALES: Readonly<Record<string, number>> = { hundred: 100, thousand: 1e3, million: 1e6, billion: 1e9 };
const VALUES: Readonly<Record<string, number>> = {
  ...Object.fromEntries(ONES.map((word, i) => [word, i])),
  ...Object.fromEntries(TENS.map((word, i) => [word, (i + 2) * 10])),
};
const WORD = `(?:${[...Object.keys(VALUES), ...Object.keys(SCALES)].join('|')})`;
const ENGLISH = new RegExp(
  String.raw`\b(?:a )?${WORD}(?:(?:[\s-]+|(?<=hundred|thousand|million) and )${WORD})*\b`,
  'g',
);

const CHINESE_DIGITS = '零一二三四五六七八九';
const CHINESE_SCALES: Readonly<Record<string, number>> = { 十: 10, 百: 100, 千: 1e3, 万: 1e4, 亿: 1e8 };
const CHINESE = /[零〇一二两三四五六七八九十][零〇一二两三四五六七八九十百千万亿]*(?:点[零〇一二三四五六七八九]+)?/g;
const DIGITS_AND_SCALE = /(\d+(?:\.\d+)?)([百千万亿])/g;

/** Replaces English and Chinese number words of a lower-case text by digits. */
export function wordsToDigits(text: string): string {
  return text
    .replace(ENGLISH, (words) => String(fromEnglish(words)))
    .replace(/(\d) point (?=\d)/g, '$1.')
    .replace(DIGITS_AND_SCALE, (_all, digits: string, scale) => String(Number(digits) * (CHINESE_SCALES[scale] ?? 1)))
    .replace(CHINESE, fromChinese);
}

function fromEnglish(words: string): number {
  let total = 0;
  let group = 0;
  for (const word of words.split(/[\s-]+/)) {
    const scale = SCALES[word];
    if (scale === undefined) group += VALUES[word] ?? 0;
    else if (scale === 100) group = Math.max(group, 1) * scale;
    else {
      total += Math.max(group, 1) * scale;
      group = 0;
    }
  }
  return total + group;
}

function fromChinese(written: string): string {
  const [whole = '', decimals] = written.replaceAll('〇', '零').replaceAll('两', '二').split('点');
  const digits = Array.from(whole).every((sign) => CHINESE_DIGITS.includes(sign))
    ? toDigits(whole)
    : String(fromChineseScales(whole));
  return decimals === undefined ? digits : `${digits}.${toDigits(decimals)}`;
}

function toDigits(signs: string): string {
  return Array.from(signs, (sign) => CHINESE_DIGITS.indexOf(sign)).join('');
}

/**
 * 一百二 is 120: a last digit without a scale is multiplied by a tenth of the scale before it; after 零 it counts as
 * itself.
 */
function fromChineseScales(whole: string): number {
  let total = 0;
  let group = 0;
  let digit: number | undefined;
  let last = 1;
  for (const sign of whole) {
    const scale = CHINESE_SCALES[sign];
    if (scale === undefined) {
      digit = CHINESE_DIGITS.indexOf(sign);
      if (digit === 0) last = 10;
    } else if (scale < 1e4) {
      group += (digit ?? 1) * scale;
      [digit, last] = [undefined, scale];
    } else {
      total = (total + group + (digit ?? 0)) * scale;
      [group, digit, last] = [0, undefined, scale];
    }
  }
  return total + group + (digit ?? 0) * Math.max(last / 10, 1);
}

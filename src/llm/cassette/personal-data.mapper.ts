import { classRule, CONTENT_CLASSES, ContentFilter } from '../../security/content/index.js';

/** Telephone numbers: international, with the trunk prefix 0 and separators, of North America, and mobile ones of China. */
const PHONE = new RegExp(
  [
    String.raw`(?<![\w.+-])\+[1-9][\d ().\-/]{6,20}\d(?![\w-])`,
    String.raw`(?<![\w.-])0\d{2,4}[ /-]\d{3,8}(?:[ -]\d{2,8}){0,3}(?![\w-])`,
    String.raw`(?<![\w.-])(?:\([2-9]\d\d\) ?|[2-9]\d\d[ .-])\d{3}[ .-]\d{4}(?![\w-])`,
    String.raw`(?<![\w.-])1[3-9]\d{9}(?![\w-])`,
  ].join('|'),
  'g',
);
/** Digits of an international number (E.164), and of the shortest other one. */
const [FEWEST_DIGITS, MOST_DIGITS] = [8, 15];

/** Content of an image or another file. */
export const DATA_URI = /\bdata:(\w+)\/[\w.+-]+;base64,[A-Za-z0-9+/]{32,}={0,2}/g;

const PHONES = {
  name: 'phones',
  action: 'mask',
  find: (text: string) =>
    [...text.matchAll(PHONE)].flatMap(({ index, 0: found }) => {
      const digits = found.replaceAll(/\D/g, '').length;
      return digits < FEWEST_DIGITS || digits > MOST_DIGITS ? [] : [{ start: index, end: index + found.length }];
    }),
} as const;

/** Personal data of a certain kind. */
export const EMAIL_FILTER = new ContentFilter([classRule('emails', 'mask')]);
export const CARD_FILTER = new ContentFilter([classRule('cards', 'mask')]);
export const PHONE_FILTER = new ContentFilter([PHONES]);

const FILTER = new ContentFilter([...CONTENT_CLASSES.map((name) => classRule(name, 'mask')), PHONES]);
/** A reason names the person who denied a call. */
const DENIER = /\bDenied by [^:."\n]{1,200}/g;

/**
 * Replaces personal data by marks: secrets, numbers of cards and persons, e-mail addresses, telephone numbers, the names
 * of deciders, and the content of files. A text without them is equal to its original and to the text with marks.
 */
export function withoutPersonalData(text: string): string {
  const short = text.replaceAll(DATA_URI, 'data:<$1>');
  // Not by the values of JSON: a text with marks in place of numbers is no JSON any more.
  const filtered = FILTER.plain(short);
  const masked = filtered.kind === 'masked' ? filtered.value : short;
  return masked.replaceAll(DENIER, 'Denied by <user>');
}

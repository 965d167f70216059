import { CITY_TABLE } from './offline-words.data.js';

interface City {
  /** IANA time zone. */
  readonly timezone: string;
  readonly english: string;
  readonly chinese: string;
}

const CITIES: readonly City[] = CITY_TABLE.trim()
  .split('\n')
  .map((line) => {
    const [timezone = '', english = '', chinese = ''] = line.split(' ');
    return { timezone, english: english.replaceAll('_', ' '), chinese };
  });
const BY_NAME = new Map(
  CITIES.flatMap((city) => [city.english.toLowerCase(), city.chinese].map((name) => [name, city])),
);

/** Matches the name of any city; English names as whole words. */
const CITY_NAME = new RegExp(
  CITIES.map(({ english, chinese }) => String.raw`\b${english}\b|${chinese}`).join('|'),
  'i',
);

/** Finds a city by its English or Chinese name. */
function cityNamed(name: string): City | undefined {
  return BY_NAME.get(name.toLowerCase());
}

/** A place of a time request. */
export interface Place {
  readonly timezone: string;
  /** Display name in the language of the question. */
  readonly name: string;
}

const OFFSET = String.raw`\b(?:UTC|GMT)\s*[+-]\s*\d{1,2}(?::?[03]0|:45)?(?![\d:])`;
const IANA = String.raw`\b(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Etc|Europe|Indian|Pacific)\/[a-z_]+(?:\/[a-z_]+)?(?:[+-]\d+)?`;
const PLACE = new RegExp(`${OFFSET}|${IANA}|${String.raw`\b(?:UTC|GMT)\b`}|${CITY_NAME.source}`, 'gi');

/** Finds cities, IANA zones and UTC offsets in a text, in order. */
export function findPlaces(text: string, isChinese: boolean): Place[] {
  const ascii = text.normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('−', '-');
  return (ascii.match(PLACE) ?? []).map((written) => toPlace(written, isChinese));
}

function toPlace(written: string, isChinese: boolean): Place {
  const city = cityNamed(written);
  if (city) return { timezone: city.timezone, name: isChinese ? city.chinese : city.english };
  if (written.includes('/')) return { timezone: written, name: written };
  return toOffset(written.toUpperCase().replace(/\s/g, ''));
}

function toOffset(name: string): Place {
  const [, sign = '', hours = '0', minutes = '00'] = /([+-])(\d{1,2}):?(\d\d)?/.exec(name) ?? [];
  if (Number(hours) + Number(minutes) === 0) return { timezone: 'UTC', name: 'UTC' };
  // Etc zones have inverted signs: Etc/GMT-2 is two hours ahead of UTC. They exist for whole hours only.
  if (minutes === '00') return { timezone: `Etc/GMT${sign === '+' ? '-' : '+'}${Number(hours)}`, name };
  return { timezone: `${sign}${hours.padStart(2, '0')}:${minutes}`, name };
}

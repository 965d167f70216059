import { CITY_TABLE } from './offline-words.data.js';

export interface City {
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
export const CITY_NAME = new RegExp(
  CITIES.map(({ english, chinese }) => String.raw`\b${english}\b|${chinese}`).join('|'),
  'i',
);

/** Finds a city by its English or Chinese name. */
export function cityNamed(name: string): City | undefined {
  return BY_NAME.get(name.toLowerCase());
}

import { languagePreference } from './preferences';
import { en } from './texts/en';
import { zh } from './texts/zh';

export type TextKey = keyof typeof en;

const CATALOGUES = { en, zh } satisfies Record<string, Readonly<Record<TextKey, string>>>;

/** The text in the language of the reader. `{name}` is replaced by a value, `{name|day|days}` by the first form for 1. */
export function t(key: TextKey, values: Readonly<Record<string, string | number>> = {}): string {
  const text: string = CATALOGUES[languagePreference.value][key];
  return text.replaceAll(/\{(\w+)(?:\|(\w+)\|(\w+))?\}/g, (whole, name: string, one?: string, many?: string) => {
    const value = String(values[name] ?? whole);
    return one === undefined ? value : value === '1' ? one : many!;
  });
}

/** The text of a value that the API may extend later, such as a status; otherwise the value itself. */
export function tValue(prefix: string, value: string): string {
  const key = `${prefix}.${value}`;
  return key in en ? t(key as TextKey) : value;
}

export function locale(): string {
  return languagePreference.value === 'zh' ? 'zh-CN' : 'en';
}

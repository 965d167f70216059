import { locale, t } from './i18n';

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** A time as the distance from now, such as "3 minutes ago". */
export function ago(at: number, now = Date.now()): string {
  const distance = at - now;
  const format = new Intl.RelativeTimeFormat(locale(), { numeric: 'auto', style: 'short' });
  for (const [unit, ms] of UNITS) {
    if (Math.abs(distance) >= ms) return format.format(Math.trunc(distance / ms), unit);
  }
  return format.format(0, 'second');
}

export function dateTime(at: number): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'medium' }).format(at);
}

/** The period that ends now, such as "Last 24 hours". */
export function lastHours(hours: number): string {
  if (hours === 1) return t('runs.lastHour');
  return hours > 24 ? t('runs.lastDays', { days: hours / 24 }) : t('runs.lastHours', { hours });
}

/** Time of day with milliseconds. */
export function clock(at: number): string {
  const time = new Intl.DateTimeFormat(locale(), { timeStyle: 'medium', hourCycle: 'h23' }).format(at);
  return `${time}.${String(at % 1000).padStart(3, '0')}`;
}

/** @param ms a duration */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const seconds = Math.round(ms / 1000);
  return seconds < 3600
    ? parts([Math.floor(seconds / 60), 'min'], [seconds % 60, 's'])
    : parts([Math.floor(seconds / 3600), 'h'], [Math.floor(seconds / 60) % 60, 'min']);
}

/** The second unit is left out if its value is 0. */
function parts(...all: readonly (readonly [value: number, unit: string])[]): string {
  return all
    .filter(([value], at) => at === 0 || value > 0)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(' ');
}

export function count(value: number): string {
  return new Intl.NumberFormat(locale()).format(value);
}

/** A large number in few characters, such as 1.2K. */
export function compact(value: number): string {
  return new Intl.NumberFormat(locale(), { notation: 'compact', maximumFractionDigits: 1 }).format(value);
}

/** A cost in the unit of `LLM_PRICES`. */
export function money(value: number): string {
  return new Intl.NumberFormat(locale(), { maximumSignificantDigits: 4 }).format(value);
}

/** A share from 0 to 1, to a tenth of a percent. */
export function percent(share: number): string {
  return new Intl.NumberFormat(locale(), { style: 'percent', maximumFractionDigits: 1 }).format(share);
}

/** A value as indented JSON; a text that is JSON is indented too. */
export function pretty(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2) ?? '';
  try {
    return JSON.stringify(JSON.parse(value), null, 2);
  } catch {
    return value;
  }
}

/** The script in the arguments of a call that runs one (code mode); `null` for other arguments. */
export function scriptIn(args: unknown): string | null {
  if (typeof args !== 'string' || !args.includes('"script"')) return null;
  try {
    const { script, ...others } = JSON.parse(args) as Readonly<Record<string, unknown>>;
    return typeof script === 'string' && Object.keys(others).length === 0 ? script : null;
  } catch {
    return null;
  }
}

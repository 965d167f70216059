import { AppError } from '../errors/index.js';

const ABBREVIATION = /^[A-Za-z]{2,4}$/;
/** Unambiguous short names. */
const CLEAR: ReadonlySet<string> = new Set('UTC GMT UCT CET EET MET WET PRC ROC ROK CUBA EIRE IRAN ZULU'.split(' '));
/** Length of `2026-01-31T09:05:00`. */
const ISO_LOCAL_LENGTH = 19;

/**
 * Formats a time (epoch ms) as ISO 8601 with seconds and the zone's offset at that time; `Z` for UTC.
 * @throws AppError `TOOL_FAILED` for an unknown zone
 */
export function toIsoInZone(epochMs: number, timezone: string): string {
  if (timezone === 'UTC') return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
  const parts = new Map(
    formatterOf(timezone)
      .formatToParts(epochMs)
      .map(({ type, value }) => [type, value]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? '';
  const offset = part('timeZoneName').replace('GMT', '') || '+00:00';
  return `${part('year')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}:${part('second')}${offset}`;
}

/**
 * Note on the interpretation of an ambiguous zone abbreviation (`CST`: America/Chicago, also used for China and Cuba);
 * `null` for all other zones.
 */
export function abbreviationNote(epochMs: number, timezone: string): string | null {
  if (!ABBREVIATION.test(timezone) || CLEAR.has(timezone.toUpperCase())) return null;
  const { timeZone } = formatterOf(timezone).resolvedOptions();
  const offset = toIsoInZone(epochMs, timezone).slice(ISO_LOCAL_LENGTH);
  return `"${timezone}" was read as ${timeZone}, UTC${offset}; for another zone give its IANA name, such as Asia/Shanghai`;
}

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'longOffset',
    });
  } catch (error) {
    throw new AppError(
      'TOOL_FAILED',
      `Unknown time zone ${JSON.stringify(timeZone.slice(0, 60))}: use an IANA name such as "Asia/Shanghai", "Europe/Berlin" or "UTC".`,
      { cause: error },
    );
  }
}

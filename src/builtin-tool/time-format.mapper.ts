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

/** Patterns of the named formats. */
const NAMED: Readonly<Record<string, string>> = {
  date: 'YYYY-MM-DD',
  time: 'HH:mm:ss',
  datetime: 'YYYY-MM-DD HH:mm:ss',
  rfc2822: 'ddd, DD MMM YYYY HH:mm:ss ZZ',
};
const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');
/** `[…]` is literal text; a run of one letter is a token. */
const PIECE = /\[([^\]]*)\]|([A-Za-z])\2*/g;
const PARTS = /^(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)(.+)$/;

type IsoParts = [string, string, string, string, string, string, string];
type Tokens = Readonly<Record<string, string>>;

/**
 * Formats a time (epoch ms) in a zone: `iso`, `epoch_s` and `epoch_ms` (numbers), `date`, `time`, `datetime`,
 * `rfc2822`, or a pattern such as `YYYY-MM-DD HH:mm:ss`.
 * @throws AppError `TOOL_FAILED` for an unknown zone or token
 */
export function formatTime(epochMs: number, timezone: string, format: string): string | number {
  const iso = toIsoInZone(epochMs, timezone);
  switch (format) {
    case 'iso':
      return iso;
    case 'epoch_s':
      return Math.floor(epochMs / 1000);
    case 'epoch_ms':
      return epochMs;
    default:
      return fill(Object.hasOwn(NAMED, format) ? String(NAMED[format]) : format, tokensOf(epochMs, iso));
  }
}

function fill(pattern: string, tokens: Tokens): string {
  let count = 0;
  const filled = pattern.replace(PIECE, (piece, literal: string | undefined) => {
    if (literal !== undefined) return literal;
    count++;
    const value = Object.hasOwn(tokens, piece) ? tokens[piece] : undefined;
    if (value === undefined) throw unknownFormat(pattern, tokens);
    return value;
  });
  if (count === 0) throw unknownFormat(pattern, tokens);
  return filled;
}

function unknownFormat(pattern: string, tokens: Tokens): AppError {
  return new AppError(
    'TOOL_FAILED',
    `Unknown format ${JSON.stringify(pattern.slice(0, 60))}: use iso, epoch_s, epoch_ms, ${Object.keys(NAMED).join(', ')}, ` +
      `or a pattern such as "YYYY-MM-DD HH:mm:ss" of ${Object.keys(tokens).join(' ')} and [text].`,
  );
}

function tokensOf(epochMs: number, iso: string): Tokens {
  const [year, month, day, hour, minute, second, zone] = (PARTS.exec(iso) ?? []).slice(1) as IsoParts;
  const offset = zone === 'Z' ? '+00:00' : zone;
  const monthName = String(MONTHS[Number(month) - 1]);
  const dayName = String(DAYS[new Date(`${year}-${month}-${day}T00:00:00Z`).getUTCDay()]);
  const hour12 = String(Number(hour) % 12 || 12);
  return {
    YYYY: year,
    YY: year.slice(-2),
    MMMM: monthName,
    MMM: monthName.slice(0, 3),
    MM: month,
    M: plain(month),
    DD: day,
    D: plain(day),
    dddd: dayName,
    ddd: dayName.slice(0, 3),
    T: 'T',
    HH: hour,
    H: plain(hour),
    hh: hour12.padStart(2, '0'),
    h: hour12,
    A: Number(hour) < 12 ? 'AM' : 'PM',
    mm: minute,
    m: plain(minute),
    ss: second,
    s: plain(second),
    SSS: new Date(epochMs).toISOString().slice(20, 23),
    Z: offset,
    ZZ: offset.replace(':', ''),
  };
}

function plain(digits: string): string {
  return String(Number(digits));
}

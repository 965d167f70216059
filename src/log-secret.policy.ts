import { type JsonValue, parseExactJson } from './common/index.js';
import type { AppConfig } from './config/index.js';
import type { ContentFilter } from './security/index.js';

const CENSOR = '[redacted]';
const WITHHELD = 'The line is withheld: it is nested too deep to be filtered';
/** Shorter values are placeholders and may be part of other words. */
const MIN_SECRET_LENGTH = 8;

/** Shapes of secrets: fields named as such, bearer tokens, providers' keys, our API keys, passwords in URLs. */
const SHAPES = [
  String.raw`(?<="(?:apiKey|[Aa]uthorization)":")(?:[^"\\]|\\.)+`,
  String.raw`(?<before>\b[Bb]earer +)[\w.~+/=-]{8,}`,
  // Not names that read as words, as `sk-learn-pipeline`.
  String.raw`\bsk-(?![a-z]{2,20}(?:-[a-z]{2,20}\d{0,4})+(?![\w-]))[\w-]{8,}`,
  String.raw`\bjd_[\w-]{20,}`,
  // A password may contain `/` and `@`; digits and a slash behind a host are a port.
  String.raw`(?<=://)(?![^\s/@:"\\]*:\d{1,5}[/?#])[^\s/@:"\\]*:[^\s"\\]{1,1024}(?=@)`,
  String.raw`(?<=://)[^\s/@"\\]+(?=@)`,
];

/** Creates a function that redacts the configured secrets and secret-shaped texts in a log line. */
export function createRedaction({ llm, database, redis, encryption, tools }: AppConfig): (line: string) => string {
  const keys = [...encryption.keys.map(({ key }) => key), ...Object.values(llm.access).map(({ apiKey }) => apiKey)];
  const configured = [database.url, redis.url, ...keys, ...Object.values(tools.secrets)]
    .filter((secret) => secret !== undefined && secret.length >= MIN_SECRET_LENGTH)
    // In the JSON-escaped form of a log line.
    .map((secret) => escaped(JSON.stringify(secret).slice(1, -1)));
  const secrets = new RegExp([...new Set(configured), ...SHAPES].join('|'), 'g');
  return (line) => line.replace(secrets, (...args) => `${beforeOf(args)}${CENSOR}`);
}

/** Fields of a line that the log itself writes. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'hostname', 'request_id', 'run_id']);

/** A line of the log, which is JSON, with the content masked that the filter finds in its values. */
export function maskLine(filter: ContentFilter | null, line: string): string {
  if (!filter) return line;
  const fields = Object.entries(parseExactJson(line) as Record<string, JsonValue>);
  const [own, given] = [true, false].map((isOwn) =>
    Object.fromEntries(fields.filter(([name]) => OWN_FIELDS.has(name) === isOwn)),
  );
  const filtered = filter.json(given!);
  if (filtered.kind === 'clean') return line;
  const shown = filtered.kind === 'masked' ? (filtered.value as object) : { msg: WITHHELD };
  return `${JSON.stringify({ ...own, ...shown })}\n`;
}

function beforeOf(args: unknown[]): string {
  return (args.at(-1) as { before?: string }).before ?? '';
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

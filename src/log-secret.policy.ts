import type { AppConfig } from './config/index.js';

const CENSOR = '[redacted]';
/** Shorter values are placeholders and may be part of other words. */
const MIN_SECRET_LENGTH = 8;

/** Shapes of secrets: fields named as such, bearer tokens, providers' keys, our API keys, passwords in URLs. */
const SHAPES = [
  String.raw`(?<="(?:apiKey|[Aa]uthorization)":")(?:[^"\\]|\\.)+`,
  String.raw`(?<before>\b[Bb]earer +)[\w.~+/=-]{8,}`,
  String.raw`\bsk-[\w-]{8,}`,
  String.raw`\bjd_[\w-]{20,}`,
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

function beforeOf(args: unknown[]): string {
  return (args.at(-1) as { before?: string }).before ?? '';
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

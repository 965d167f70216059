import type { AppConfig } from './config/index.js';

const CENSOR = '[redacted]';
/** A shorter one is a stand-in, and may be part of any word. */
const MIN_SECRET_LENGTH = 8;

/** What looks like a secret, whoever's it is: what is called one, a bearer token, a provider's key, a key of ours, the password of a URL. */
const SHAPES = [
  String.raw`(?<="(?:apiKey|[Aa]uthorization)":")(?:[^"\\]|\\.)+`,
  String.raw`(?<before>\b[Bb]earer +)[\w.~+/=-]{8,}`,
  String.raw`\bsk-[\w-]{8,}`,
  String.raw`\bjd_[\w-]{20,}`,
  String.raw`(?<=://)[^\s/@"\\]+(?=@)`,
];

/** Makes what takes the secrets of a configuration, and all that looks like one, out of a line of the log. */
export function createRedaction({ llm, database, redis, encryption, tools }: AppConfig): (line: string) => string {
  const keys = [...encryption.keys.map(({ key }) => key), ...Object.values(llm.access).map(({ apiKey }) => apiKey)];
  const configured = [database.url, redis.url, ...keys, ...Object.values(tools.secrets)]
    .filter((secret) => secret !== undefined && secret.length >= MIN_SECRET_LENGTH)
    // As it stands in a line, which is JSON.
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

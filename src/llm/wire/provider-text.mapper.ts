import { createSecretMask, headerSecrets } from '../../kernel/text/index.js';
import type { WireAccess } from './wire-access.types.js';

/** Maximum length of a provider's message in our errors, in UTF-16 units. */
const MAX_LENGTH = 500;
/** Maximum length to process, in UTF-16 units; the rest is cut off first. */
const MAX_READ = 5_000;

/** The start of a trace in Python; JSON inside JSON has its line breaks escaped. */
const PYTHON_TRACE = 'Traceback (most recent call last)';
/** The ends of a frame in JavaScript, Java and C#: a position, or a place without one. */
const PLACES = [
  String.raw`:\d+:\d+\)?`,
  String.raw`\(\w+\.(?:java|kt|scala):\d+\)`,
  String.raw`\((?:native|<anonymous>|Native Method|Unknown Source)\)`,
  String.raw`:line \d+`,
];
const FRAME = new RegExp(String.raw`^\s*(?:at \S.*(?:${PLACES.join('|')})|\.\.\. \d+ more)\s*$`);
const SOURCES = 'py|pyc|js|mjs|cjs|ts|go|rs|java|rb|php|cs';
/** The path of a file with code, but not that of a URL. */
const PATH = new RegExp(
  String.raw`(?<![\w:/.\\])(?:file://|[A-Za-z]:)?[/\\](?:[\w.@+-]+[/\\])+[\w.@+-]+\.(?:${SOURCES})\b(?::\d+)*`,
  'g',
);

/** A provider's message for an error, and its whole text for the log if it contains more. */
export interface ProviderQuote {
  /** One line of at most 500 characters. */
  readonly line: string;
  /** Set if the text has a stack trace or paths of files. */
  readonly details?: string;
}

/** Sanitises a provider's message: secrets masked, without stack traces and paths of files. */
export function quoteProvider(said: string, access: Pick<WireAccess, 'apiKey' | 'headers'>): ProviderQuote {
  const text = masked(said.slice(0, MAX_READ), access);
  const message = withoutTrace(text);
  const shown = message.replace(PATH, '[path]');
  const line = shown.replace(/\s+/g, ' ').trim();
  return {
    line: line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH - 1)}…` : line,
    ...(shown !== text && { details: text }),
  };
}

function masked(text: string, { apiKey = '', headers = {} }: Pick<WireAccess, 'apiKey' | 'headers'>): string {
  const known = [apiKey, ...Object.entries(headers).flatMap(([name, value]) => headerSecrets(name, value))];
  // Providers quote keys of which they have masked a part themselves.
  return createSecretMask(known)(text)
    .replace(/\bsk-[\w*.-]+/g, '[redacted]')
    .replace(/\bBearer\s[^\s"',;]+/gi, 'Bearer [redacted]');
}

/** The message of a text with a stack trace: before the trace, or in Python its last line. */
function withoutTrace(text: string): string {
  const at = text.indexOf(PYTHON_TRACE);
  if (at >= 0) {
    const before = unescaped(text.slice(0, at));
    return before === '' ? unescaped(text).split('\n').at(-1)! : before;
  }
  const lines = text.split('\n');
  const messages = lines.filter((line) => !FRAME.test(line));
  return messages.length === lines.length || messages.length === 0 ? text : messages.join('\n');
}

function unescaped(text: string): string {
  return text.replaceAll(String.raw`\n`, '\n').trim();
}

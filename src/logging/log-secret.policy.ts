import { type JsonValue, parseExactJson } from '../kernel/json/index.js';
import { createSecretMask } from '../kernel/text/index.js';
import type { ConfiguredSecrets } from '../config/index.js';
import type { ContentFilter } from '../security/content/index.js';

const WITHHELD = 'The line is withheld: it is nested too deep to be filtered';

/** Creates a function that redacts the configured secrets and secret-shaped texts in a log line. */
export function createRedaction({ values }: ConfiguredSecrets): (line: string) => string {
  // In the JSON-escaped form of a log line.
  return createSecretMask(values.map((secret) => JSON.stringify(secret).slice(1, -1)));
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

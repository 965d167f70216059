import type { ErrorObject } from 'ajv/dist/2020.js';
import { Log } from '../../errors/index.js';
import type { JsonSchema } from '../../kernel/json/index.js';
import { keysOf } from '../input/reason.mapper.js';
import { type Checked, compileSchema, type SchemaCheck, unusable, validSchema } from '../input/schema-check.factory.js';
import type { SentError } from './schema-check.types.js';
import { schemaChecker, schemaKey, SLOW_MS } from './schema-checker.js';
import { isSmall, limitDefect, plainSize, unresolvedReference } from './schema-limits.policy.js';

/** A check without a result, and the reason. */
export interface Undecided {
  readonly undecided: string;
}

/** A check that does not block the process, for any schema and value. Never rejects. */
export type BoundedCheck = (value: unknown) => Checked | Promise<Checked | Undecided>;

/** Maximum product of the schemas in a plain schema and the values that the main thread checks. */
const MAX_PLAIN_COST = 50_000;

const logger = new Log('SchemaCheck');

/** @throws AppError `TOOL_INVALID` for a schema that exceeds the limits */
export function assertSchemaLimits(schema: JsonSchema, what: string): void {
  const defect = limitDefect(schema);
  if (defect !== undefined) throw unusable(what, `it ${defect}`);
}

/**
 * Check of values against an untrusted schema within the limits. The main thread checks small values against plain
 * schemas; a thread of its own checks all others. A schema is compiled at its first check. Defaults are never added: the
 * owner of the schema applies them itself, and a sent default would overwrite data that the call does not name.
 * @param what subject of messages
 * @throws AppError `TOOL_INVALID` for a schema that does not conform to the metaschema, or has a reference that cannot be
 *   resolved
 */
export function createBoundedSchema(schema: JsonSchema, what: string): BoundedCheck {
  const valid = validSchema(schema, what);
  const missing = unresolvedReference(schema);
  if (missing !== undefined) throw unusable(what, `can't resolve reference ${missing} from id #`);
  const threaded = createThreadCheck(valid, what);
  const size = plainSize(schema);
  if (size === undefined) {
    schemaChecker.warm();
    return threaded;
  }
  let plain: SchemaCheck | undefined;
  const maxValues = Math.floor(MAX_PLAIN_COST / Math.max(size, 1));
  return (value) => {
    if (!isSmall(value, maxValues)) return threaded(value);
    return (plain ??= compileSchema(schema, what, false))(value);
  };
}

function createThreadCheck(schema: JsonSchema, what: string): BoundedCheck {
  const key = schemaKey(schema);
  return async (value) => {
    const reply = await schemaChecker.ask({ key, schema, checked: { value } });
    switch (reply.kind) {
      case 'checked':
        reportUnchecked(reply.unchecked, what);
        return { errors: reply.errors.map((error) => toError(error, value)), value };
      case 'unusable':
        return { undecided: `${what} cannot be checked: ${reply.message}` };
      case 'late':
        return { undecided: `the check against its schema took more than ${SLOW_MS} ms` };
      case 'busy':
        return { undecided: 'too many slow checks against schemas are waiting' };
      case 'failed':
        return { undecided: `the thread for checks against schemas does not start: ${reply.message}` };
    }
  };
}

/** The thread sends no data back: it is the value's. */
function toError({ properties, propertyName, ...error }: SentError, value: unknown): ErrorObject {
  const data = propertyName ?? partOf(value, keysOf(error.instancePath));
  return {
    ...error,
    data,
    ...(properties && { parentSchema: { properties: Object.fromEntries(properties.map((key) => [key, true])) } }),
  };
}

function partOf(value: unknown, path: readonly string[]): unknown {
  return path.reduce((part, key) => (part as Readonly<Record<string, unknown>> | undefined)?.[key], value);
}

function reportUnchecked(patterns: readonly string[], what: string): void {
  if (patterns.length === 0) return;
  const shown = patterns.slice(0, 3).map((pattern) => JSON.stringify(pattern.slice(0, 100)));
  logger.warn(`Patterns of ${what} are not regular expressions, and are not checked: ${shown.join(', ')}`);
}

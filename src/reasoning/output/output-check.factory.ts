import { Script, createContext } from 'node:vm';
import { isJsonObject } from '../../common/index.js';
import type { ResponseFormat } from '../../llm/index.js';
import { createValueCheck } from '../../tool/index.js';
import type { ParsedOutput } from './output.types.js';

type OutputCheck = (value: unknown) => ParsedOutput;

/**
 * The longest that one check may take, in ms of the processor: schemas come from outside, and a pattern or a web of references can keep a
 * processor busy for ever.
 */
const LONGEST_MS = 1000;
/** In a millisecond. */
const MICROSECONDS = 1000;

/** What the answer is called in what is said of it. */
const NAME = 'output';

/** Of the formats of agents, which are the same objects in every run. */
const known = new WeakMap<object, OutputCheck>();
const anyObject: OutputCheck = (value) =>
  isJsonObject(value) ? { kind: 'valid', value } : { kind: 'invalid', problem: 'it is not a JSON object' };

/** The check of a format. Throws `TOOL_INVALID` for a schema that cannot be used. */
export function outputCheckOf(format: ResponseFormat): OutputCheck {
  if (format === 'json') return anyObject;
  let check = known.get(format.schema);
  if (!check) known.set(format.schema, (check = createCheck(format.schema)));
  return check;
}

function createCheck(schema: Readonly<Record<string, unknown>>): OutputCheck {
  // What checks schemas is loaded at its first use: that is not this schema's time, and what is broken off there stays broken.
  createValueCheck({}, NAME);
  const check = within(LONGEST_MS, () => createValueCheck(schema, NAME));
  return (value) => {
    try {
      const checked = within(LONGEST_MS, () => check(value));
      return checked.valid ? { kind: 'valid', value } : { kind: 'invalid', problem: checked.reason };
    } catch (error) {
      if (!isTimeout(error)) throw error;
      return { kind: 'unchecked', problem: `its check against the schema took more than ${LONGEST_MS} ms` };
    }
  };
}

const script = new Script('action()');
/** One for all, as a context takes a millisecond to make. */
let sandbox: { action: () => unknown } | undefined;

/**
 * Calls a function that waits for nothing, and ends it when it takes too long, inside a regular expression too. What is
 * ended goes by the clock: where others are at work and the processor was not ours, it is called again, with more time.
 */
function within<T>(ms: number, action: () => T): T {
  const before = process.cpuUsage();
  for (let timeout = ms; ; timeout *= 2) {
    try {
      return callWithin(timeout, action);
    } catch (error) {
      const { user, system } = process.cpuUsage(before);
      if (!isTimeout(error) || (user + system) / MICROSECONDS >= ms) throw error;
    }
  }
}

function callWithin<T>(timeout: number, action: () => T): T {
  const context = (sandbox ??= createContext({ action: nothing }) as { action: () => unknown });
  context.action = action;
  try {
    return script.runInContext(context, { timeout }) as T;
  } finally {
    context.action = nothing;
  }
}

function nothing(): void {}

function isTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

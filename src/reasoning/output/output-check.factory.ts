import { Script, createContext } from 'node:vm';
import { isJsonObject } from '../../common/index.js';
import type { ResponseFormat } from '../../llm/index.js';
import { createValueCheck } from '../../tool/index.js';
import type { ParsedOutput } from './output.types.js';

type OutputCheck = (value: unknown) => ParsedOutput;

/**
 * Maximum CPU time of one check, in ms. Schemas come from outside; a pattern or circular references could block the
 * process.
 */
const LONGEST_MS = 1000;
/** Microseconds in a millisecond. */
const MICROSECONDS = 1000;

/** Name of the answer in problem texts. */
const NAME = 'output';

/** Checks of the agents' formats, which are the same objects in every run. */
const known = new WeakMap<object, OutputCheck>();
const anyObject: OutputCheck = (value) =>
  isJsonObject(value) ? { kind: 'valid', value } : { kind: 'invalid', problem: 'it is not a JSON object' };

/** The check of a format. @throws AppError `TOOL_INVALID` for an unusable schema */
export function outputCheckOf(format: ResponseFormat): OutputCheck {
  if (format === 'json') return anyObject;
  let check = known.get(format.schema);
  if (!check) known.set(format.schema, (check = createCheck(format.schema)));
  return check;
}

function createCheck(schema: Readonly<Record<string, unknown>>): OutputCheck {
  // Load the validator first: its load time is not the schema's, and an interrupted load leaves it broken.
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
/** Shared by all checks, since creating a context takes about 1 ms. */
let sandbox: { action: () => unknown } | undefined;

/**
 * Calls a synchronous function with a time limit that also interrupts regular expressions. The limit is wall-clock
 * time: if the process used less CPU time than `ms`, the function is called again with twice the limit.
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

import { isJsonObject } from '../../kernel/index.js';
import type { ResponseFormat } from '../../llm/index.js';
import { createBoundedCheck } from '../../tool/index.js';
import type { ParsedOutput } from './output.types.js';

type OutputCheck = (value: unknown) => ParsedOutput | Promise<ParsedOutput>;

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

/** Requests bring schemas, so the check is bounded. */
function createCheck(schema: Readonly<Record<string, unknown>>): OutputCheck {
  const check = createBoundedCheck(schema, NAME);
  return async (value) => {
    const checked = await check(value);
    if (checked.valid) return { kind: 'valid', value };
    return { kind: checked.isUndecided ? 'unchecked' : 'invalid', problem: checked.reason };
  };
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ToolExecutor, ToolRegistry, type ToolResult } from '../../src/tool/index.js';
import { callSite } from '../support/call-site.js';
import { jsonFor, NAUGHTY } from '../support/hostile-values.js';
import { startJackdaw, type Jackdaw } from '../support/jackdaw.js';
import { IS_LONG_FORM } from '../support/long-form.js';

/** Number of random JSON values per field in the short form. */
const SHORT = 150;
const TIMEOUT_MS = IS_LONG_FORM ? 3_600_000 : 600_000;
const TOOLS = ['calculator', 'get_timestamp', 'recall', 'remember', 'sequentialthinking', 'string_tools'];

let jackdaw: Jackdaw;

beforeAll(async () => {
  jackdaw = await startJackdaw({
    env: { LONG_TERM_MEMORY: 'on', BUILTIN_TOOLS: 'calculator,get_timestamp,string_tools,sequentialthinking' },
  });
});
afterAll(() => jackdaw.stop());

/** Calls the tool as a model does, with its arguments as raw JSON text. */
async function result(name: string, args: unknown): Promise<ToolResult> {
  const executor = jackdaw.app.get(ToolExecutor, { strict: false });
  const tool = jackdaw.app.get(ToolRegistry, { strict: false }).get(name);
  const site = callSite();
  const planned = await executor.plan({ name, arguments: JSON.stringify(args) }, new Map([[name, tool]]), site);
  if (planned.kind === 'rejected') return planned.result;
  const invoked = await executor.invoke(planned, site);
  if (invoked.kind !== 'result') throw new Error(`${name} asked a question`);
  return invoked.result;
}

describe('every built-in tool', () => {
  it('is in this list', () => {
    const tools = jackdaw.app.get(ToolRegistry, { strict: false }).list();
    expect(tools.map(({ definition }) => definition.name).toSorted()).toEqual(TOOLS);
  });

  it.each(TOOLS)(
    'answers with a result or an error that a model can read: %s',
    async (name) => {
      const { inputSchema } = jackdaw.app.get(ToolRegistry, { strict: false }).get(name).definition;
      const { properties, required = [] } = inputSchema as {
        properties: Readonly<Record<string, unknown>>;
        required?: readonly string[];
      };
      const needed = Object.fromEntries(required.map((key) => [key, 'x']));
      for (const [index, property] of Object.keys(properties).entries()) {
        for (const value of [...NAUGHTY, ...jsonFor(index, SHORT)]) {
          expectReadable(name, await result(name, { ...needed, [property]: value }));
        }
      }
      for (const value of jsonFor(99, SHORT)) expectReadable(name, await result(name, value));
    },
    TIMEOUT_MS,
  );
});

function expectReadable(name: string, done: ToolResult): void {
  expect(done.tool).toBe(name);
  if (done.success) return;
  expect(['TOOL_INVALID_ARGUMENTS', 'TOOL_FAILED']).toContain(done.code);
  expect(done.error).toMatch(/\w/);
  // The error contains no internals: neither a stack trace nor a JavaScript error.
  expect(done.error).not.toMatch(/\n\s+at |is not a function|Cannot read propert|is not iterable|Maximum call stack/);
}

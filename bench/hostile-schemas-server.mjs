// An MCP server over stdio for hostile.mjs. It lists 4 MB of tools with other names by turns, and announces a change
// after each list; or, with the argument `schemas`, tools whose schemas are slow to check.
import { createInterface } from 'node:readline';

const [, , kind, pauseMs = '200'] = process.argv;
const TOOLS = 950;
/** Below the limits: 4 MiB for a list, 1000 tools. */
const LIST_BYTES = 3_900_000;

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
let lists = 0;

const PROPERTY_BYTES = 115;

/** A tool with properties of this many bytes, in the form of real schemas. */
function largeTool(name, bytes) {
  const properties = {};
  for (let n = 0; n * PROPERTY_BYTES < bytes; n++) {
    properties[`property_${n}`] = {
      type: 'string',
      description: `The value of the property ${n} of this tool.`,
      maxLength: n,
    };
  }
  return { name, description: 'Has many properties.', inputSchema: { type: 'object', properties } };
}

/** References that double at each level: 2^16 evaluations of a value. */
const $defs = { d16: { type: 'string' } };
for (let n = 0; n < 16; n++) {
  const $ref = `#/$defs/d${n + 1}`;
  $defs[`d${n}`] = { allOf: [{ $ref }, { $ref }] };
}

function conditions(depth) {
  if (depth === 0) return { type: 'string' };
  return Object.fromEntries(['if', 'then', 'else'].map((keyword) => [keyword, conditions(depth - 1)]));
}

const SLOW = {
  pattern: { type: 'string', pattern: '^(a+)+$' },
  lookahead: { type: 'string', pattern: '^(?=(a+)+$)b' },
  unique: { type: 'array', uniqueItems: true },
  web: { $ref: '#/$defs/d0' },
  conditions: conditions(6),
};

function tools() {
  if (kind === 'schemas') {
    return Object.entries(SLOW).map(([name, value]) => ({
      name,
      description: `Checks ${name}.`,
      inputSchema: { type: 'object', properties: { value }, $defs },
    }));
  }
  // By turns two lists: their pins are stored.
  const list = lists++ % 2;
  return Array.from({ length: TOOLS }, (_, n) => largeTool(`list_${list}_tool_${n}`, LIST_BYTES / TOOLS));
}

const RESULTS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'hostile', version: '1' },
  }),
  'tools/list': () => ({ tools: tools() }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'done' }] }),
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = RESULTS[method]?.(params);
  say(result ? { id, result } : { id, error: { code: -32_601, message: 'not known here' } });
  if (method === 'tools/list' && kind !== 'schemas') {
    setTimeout(() => say({ method: 'notifications/tools/list_changed' }), Number(pauseMs));
  }
});

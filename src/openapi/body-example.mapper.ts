import type { OpenAPIObject } from '@nestjs/swagger';

type Schema = Readonly<Record<string, unknown>>;

/** Depth up to which an example of a tool's arguments is made from its schema. */
const MAX_DEPTH = 5;

const session = {
  version: 1,
  session: {
    id: 'from-export',
    owner: 'user-1',
    created_at: 1_735_689_600_000,
    updated_at: 1_735_689_600_000,
    metadata: {},
  },
  turns: [],
};

const rate = { passed: 1, total: 1, rate: 1, low: 0.2065, high: 1 };
const evalReport = {
  name: 'refunds',
  id: 'nightly',
  revision: 'c0ffee',
  startedAt: '2026-01-31T09:00:00.000Z',
  lines: 1,
  repeat: 1,
  passRate: rate,
  scorers: { exact: { mean: 1, passRate: rate } },
  usage: { tokens: 15, cost: 0.001 },
  judgeUsage: { tokens: 0, cost: 0 },
  latencyMs: { median: 900, p95: 900 },
  gates: [],
  isPassed: true,
  results: [],
};

/** A valid body of each operation with a body, by the operation's id. Those of the built-in tools are here too. */
export const BODY_EXAMPLES: Readonly<Record<string, object>> = {
  chat: { query: 'Calculate 100 + 200', includeDetails: true },
  streamChat: { query: 'Calculate 100 + 200' },
  startRun: { query: 'Calculate 100 + 200' },
  forkRun: { fromStep: 'model:1', edit: { message: 'Calculate 100 + 300' } },
  approveRun: {},
  denyRun: { reason: 'The amount is too high.' },
  answerRun: { value: 'yes' },
  settleRun: { outcome: 'succeeded', result: { id: 4711 } },
  createEval: { report: evalReport },
  giveFeedback: { score: 0, comment: 'The amount is wrong.', correction: 'The sum is 300.' },
  pruneSessions: { olderThanDays: 365 },
  createSession: { metadata: { customer: '4711' } },
  importSession: { session, id: 'imported' },
  setSessionMetadata: { metadata: { customer: '4711' } },
  callTool: { arguments: { expression: '100 + 200' } },
  call_calculator: { arguments: { expression: '100 + 200' } },
  call_get_timestamp: { arguments: {} },
  call_string_tools: { arguments: { operation: 'reverse', text: 'nest' } },
  rollBackToolState: { version: 1 },
  addMcpServer: { name: 'documents', url: 'https://mcp.example.com/mcp' },
  acceptMcpTool: { tool: 'search', digest: '0f'.repeat(32) },
  acceptMcpServer: { dryRun: true },
  getMcpPrompt: { name: 'review', arguments: { language: 'en' } },
  createKey: { name: 'operations', role: 'admin' },
  createSchedule: { query: 'Summarise the open tickets.', cron: '0 9 * * 1-5', timeZone: 'Europe/Berlin' },
  changeSchedule: { enabled: false },
  createWebhook: { url: 'https://app.example/hooks/jackdaw', events: ['run.completed', 'run.failed'] },
  changeWebhook: { enabled: false },
  startWorkflow: { input: { question: 'Calculate 100 + 200' } },
};

/** Adds the registered example to the JSON body of an operation. */
export function addBodyExample(operation: NonNullable<OpenAPIObject['paths'][string]['post']>): void {
  const { requestBody, operationId = '' } = operation;
  if (!requestBody || !('content' in requestBody)) return;
  const json = requestBody.content['application/json'];
  const example = BODY_EXAMPLES[operationId];
  if (json && example) json.example ??= example;
}

/** The body of a call of a tool: the registered example, or the required arguments with values that fit their types. */
export function toolCallExample(name: string, inputSchema: Schema): object {
  return BODY_EXAMPLES[`call_${name}`] ?? { arguments: exampleOf({ type: 'object', ...inputSchema }, 0) };
}

function exampleOf(schema: Schema, depth: number): unknown {
  const { examples, enum: values } = schema;
  if ('const' in schema) return schema['const'];
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if ('default' in schema) return schema['default'];
  if (Array.isArray(values) && values.length > 0) return values[0];
  return exampleOfType(schema, depth);
}

function exampleOfType(schema: Schema, depth: number): unknown {
  const { type, minimum, items } = schema;
  switch (Array.isArray(type) ? (type as unknown[])[0] : type) {
    case 'object':
      return exampleObject(schema, depth);
    case 'array':
      return isSchema(items) && depth < MAX_DEPTH ? [exampleOf(items, depth + 1)] : [];
    case 'integer':
    case 'number':
      return typeof minimum === 'number' ? minimum : 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return 'text';
  }
}

function exampleObject({ properties, required }: Schema, depth: number): object {
  if (!isSchema(properties) || !Array.isArray(required) || depth >= MAX_DEPTH) return {};
  const present = (required as unknown[]).filter((name) => typeof name === 'string' && Object.hasOwn(properties, name));
  const members = (present as string[]).map((name) => {
    const schema = properties[name];
    return [name, isSchema(schema) ? exampleOf(schema, depth + 1) : 'text'];
  });
  return Object.fromEntries(members) as object;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

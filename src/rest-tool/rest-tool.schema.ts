import { z } from 'zod';
import { AppError } from '../errors/index.js';
import type { JsonValue } from '../kernel/json/index.js';
import type { OpenApiImport } from './openapi/openapi.types.js';
import { REST_METHODS, type RestToolDeclaration } from './rest-tool.types.js';

/** Maximum delay of a Node.js timer, in ms. */
const MOST = 2 ** 31 - 1;

const ms = z.int().min(1).max(MOST);
const count = z.int().max(MOST);

const captureSchema = z.strictObject({
  from: z.string(),
  header: z.string().min(1),
  prefix: z.string().optional(),
});

const retrySchema = z.strictObject({
  attempts: count.min(1).max(11).optional(),
  delayMs: ms.optional(),
  backoff: z.number().min(1).max(100).optional(),
  jitter: z.boolean().optional(),
});

/** The shape of a declaration's `connection`. */
const connectionSchema = z.strictObject({
  cookies: z.boolean().optional(),
  capture: z.record(z.string().min(1), captureSchema).optional(),
  poolSize: count.min(1).optional(),
  maxOverflow: count.min(0).optional(),
  poolTimeoutMs: ms.optional(),
  poolRecycleMs: ms.optional(),
  connectTimeoutMs: ms.optional(),
  readTimeoutMs: ms.optional(),
  writeTimeoutMs: ms.optional(),
  timeoutMs: ms.optional(),
  keepAlive: z.boolean().optional(),
  keepAliveTimeoutMs: ms.optional(),
  keepAliveIntervalMs: ms.multipleOf(1000, 'must be whole seconds: 1000, 2000, …').optional(),
  retry: retrySchema.optional(),
});

const text = z.string().regex(/\S/, 'is empty');
const wholeMs = z.int().min(1);
/** A value that its user validates later. */
const checkedLater = <T>() => z.custom<T>((value) => value !== undefined);
const json: z.ZodType<JsonValue> = z.json();

/** A colon ends the user name in Basic credentials (RFC 7617, 2). */
const userName = text.regex(/^[^:\p{Cc}\p{Cs}]+$/u, 'a user name has no colon and no control characters');
const login = { user: userName.optional(), username: text.optional(), password: text.optional() };
const hasOneUser = ({ user, username }: { user?: unknown; username?: unknown }) =>
  (user === undefined) !== (username === undefined);
const ONE_USER = {
  path: ['user'],
  message: 'give the user name as `user`, or as `username` the name of a variable of `TOOL_SECRETS`',
};

const authSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('bearer'), token: text }),
  z.strictObject({ type: z.literal('basic'), ...login }).refine(hasOneUser, ONE_USER),
  z.strictObject({ type: z.literal('apiKey'), in: z.enum(['header', 'query', 'cookie']), name: text, key: text }),
]);

/** Handling options of a REST tool. */
const handling = {
  effect: z.enum(['read', 'idempotent', 'once']).optional(),
  timeoutMs: wholeMs.optional(),
  firstByteTimeoutMs: wholeMs.optional(),
  retries: z.int().min(0).max(10).optional(),
  result: z.string().optional(),
  approval: checkedLater<RestToolDeclaration['approval']>().optional(),
  cacheTtlMs: wholeMs.optional(),
  concurrency: z.int().min(1).optional(),
  queueTimeoutMs: wholeMs.optional(),
  egress: z.boolean().optional(),
  untrusted: z.boolean().optional(),
  private: z.boolean().optional(),
  resources: checkedLater<RestToolDeclaration['resources']>().optional(),
  output: checkedLater<RestToolDeclaration['output']>().optional(),
  stateful: checkedLater<RestToolDeclaration['stateful']>().optional(),
  connection: connectionSchema.optional(),
};

const declarationSchema = z.strictObject({
  name: text,
  // The tool factory reports a blank description together with its other checks.
  description: z.string().min(1),
  method: z.enum(REST_METHODS).optional(),
  url: text,
  parameters: checkedLater<RestToolDeclaration['parameters']>().optional(),
  query: z.record(z.string(), json).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: json.optional(),
  bodyType: z.enum(['json', 'form']).optional(),
  auth: z.union([z.array(authSchema), authSchema]).optional(),
  ...handling,
});

const selectors = ['operationId', 'tag', 'path'] as const;

const operationSchema = z
  .strictObject({
    operationId: text.optional(),
    tag: text.optional(),
    path: text.regex(/^(?:\S+ +)?\//, 'is not /path or GET /path').optional(),
    name: text.optional(),
    description: text.optional(),
    omit: z.array(text).optional(),
    ...handling,
  })
  .refine((one) => selectors.filter((key) => one[key] !== undefined).length === 1, {
    path: ['operationId'],
    message: 'give one of `operationId`, `tag` and `path`',
  });

const importSchema = z.strictObject({
  document: z.union([
    text,
    z.custom<object>((value) => typeof value === 'object' && value !== null, 'expected a path or a document'),
  ]),
  operations: z
    .array(z.union([text, operationSchema]))
    .min(1, 'is empty; without `operations` all are imported')
    .optional(),
  server: text.optional(),
  secrets: z.record(z.string(), z.union([text, z.strictObject(login).refine(hasOneUser, ONE_USER)])).optional(),
  prefix: z.string().optional(),
  private: z.boolean().optional(),
});

/** The content of a file of `REST_TOOLS`; its tools and imports are validated one by one. */
const fileSchema = z.strictObject({
  tools: z.array(z.unknown()).default([]),
  openapi: z.array(z.unknown()).default([]),
});

export type RestToolFile = z.infer<typeof fileSchema>;

/** @throws AppError `TOOL_INVALID` that lists all schema violations */
export function checkDeclaration(declaration: unknown, source: string): RestToolDeclaration {
  return checked(declarationSchema, declaration, source) as RestToolDeclaration;
}

/** @throws AppError `TOOL_INVALID` that lists all schema violations */
export function checkImport(input: unknown, source: string): OpenApiImport {
  return checked(importSchema, input, source) as OpenApiImport;
}

/** @throws AppError `TOOL_INVALID` */
export function checkFile(content: unknown, source: string): RestToolFile {
  return checked(fileSchema, content, source);
}

function checked<T>(schema: z.ZodType<T>, value: unknown, source: string): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const mistakes = read.error.issues.flatMap((issue) => linesOf(issue));
  throw new AppError('TOOL_INVALID', `${source}: ${mistakes.join('; ')}.`);
}

function linesOf(issue: z.core.$ZodIssue, before: readonly PropertyKey[] = []): string[] {
  const path = [...before, ...issue.path];
  if (issue.code === 'invalid_union') {
    const [nearest = []] = issue.errors.filter((errors) => errors.some(({ path: inner }) => inner.length > 0));
    if (nearest.length > 0) return nearest.flatMap((inner) => linesOf(inner, path));
  }
  const message = issue.message.charAt(0).toLowerCase() + issue.message.slice(1);
  return [path.length === 0 ? message : `its ${path.join('.')}: ${message}`];
}

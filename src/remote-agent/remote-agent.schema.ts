import { z } from 'zod';
import { AppError } from '../errors/index.js';
import type { RemoteAgent, RemoteAgentDeclaration } from './remote-agent.types.js';

const TIMEOUT_MS = 300_000;
/** Maximum delay of a Node.js timer, in ms. */
const MAX_MS = 2_147_483_647;
const CARD_PATH = '.well-known/agent-card.json';

const text = z.string().regex(/\S/, 'must not be blank');

const declarationSchema = z.strictObject({
  name: text,
  description: text,
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
  headers: z.record(z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be a header name'), z.string()).optional(),
  card: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex')
    .optional(),
  timeoutMs: z.int().min(1).max(MAX_MS).optional(),
  effect: z.enum(['read', 'idempotent', 'once']).optional(),
  approval: z.custom<NonNullable<RemoteAgentDeclaration['approval']>>((value) => value !== undefined).optional(),
  egress: z.boolean().optional(),
  untrusted: z.boolean().optional(),
  private: z.boolean().optional(),
  concurrency: z.int().min(1).optional(),
});

/**
 * Checks a declaration.
 * @param source location of the declaration, for messages
 * @throws AppError `TOOL_INVALID` with all mistakes
 */
export function parseRemoteAgent(declaration: unknown, source: string): RemoteAgent {
  const read = declarationSchema.safeParse(declaration);
  if (!read.success) {
    const mistakes = read.error.issues.map(
      ({ path, message }) => `${path.join('.')}${path.length > 0 ? ': ' : ''}${message}`,
    );
    throw new AppError('TOOL_INVALID', `${source}: ${mistakes.join('; ')}.`);
  }
  const { headers = {}, timeoutMs = TIMEOUT_MS, ...given } = read.data as RemoteAgentDeclaration;
  const lowerCased = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return { ...given, headers: Object.fromEntries(lowerCased), timeoutMs, cardUrl: cardUrlOf(given.url), source };
}

function cardUrlOf(url: string): URL {
  const parsed = new URL(url);
  if (parsed.pathname.endsWith('.json')) return parsed;
  return new URL(CARD_PATH, `${parsed.origin}${parsed.pathname.replace(/\/?$/, '/')}`);
}

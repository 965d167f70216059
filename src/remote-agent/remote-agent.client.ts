import { AppError } from '../errors/index.js';
import { newId } from '../kernel/index.js';
import { isJsonObject, type JsonValue, parseExactJson } from '../kernel/json/index.js';
import { headerSecrets, maskSecrets, MIN_SECRET_LENGTH } from '../kernel/text/index.js';
import { type OutgoingClient, SecretRedaction } from '../security/egress/index.js';
import type { RemoteAgent } from './remote-agent.types.js';
import { readMessage, readTask, type RemoteTask } from './remote-task.mapper.js';

const VERSION = '1.0';
/** Time limit of one request, in ms. */
const REQUEST_MS = 30_000;
const MAX_BYTES = 10 * 1024 * 1024;
const UNSUPPORTED = -32_004;

/** The reply to a message: a task, or an answer at once. */
export type RemoteReply = { readonly task: RemoteTask } | { readonly answer: JsonValue };

export interface SentParts {
  readonly messageId: string;
  readonly parts: readonly object[];
  readonly taskId?: string;
  readonly contextId?: string;
  /** Time to the deadline of the call, in ms. */
  readonly remainingMs?: number;
  /** Tokens that the task may use. */
  readonly budgetTokens?: number | undefined;
}

/** The agent does not accept the message, for a reason of its protocol. */
export class RemoteAgentError extends AppError {
  constructor(
    message: string,
    /** Code of the JSON-RPC error; `null` for another failure. */
    readonly rpcCode: number | null,
    isRetryable = false,
  ) {
    super('TOOL_EXECUTION_FAILED', message, { isRetryable });
  }

  /** Whether the task does not wait for this message any more. */
  get isTooLate(): boolean {
    return this.rpcCode === UNSUPPORTED;
  }
}

/** Requests to one remote agent, by JSON-RPC through the guarded client. */
export class RemoteAgentClient {
  constructor(
    private readonly agent: RemoteAgent,
    private readonly http: OutgoingClient,
    private readonly endpoint: URL,
  ) {}

  /** Sends a message, and does not wait for the end of its task. */
  async send(
    { messageId, parts, taskId, contextId, remainingMs, budgetTokens }: SentParts,
    signal: AbortSignal,
  ): Promise<RemoteReply> {
    const metadata = {
      ...(remainingMs !== undefined && { 'jackdaw.deadlineMs': remainingMs }),
      ...(budgetTokens !== undefined && { 'jackdaw.budgetTokens': budgetTokens }),
    };
    const result = await this.call(
      'SendMessage',
      {
        message: { messageId, role: 'ROLE_USER', parts, ...(taskId && { taskId }), ...(contextId && { contextId }) },
        configuration: { returnImmediately: true, historyLength: 0 },
        ...(Object.keys(metadata).length > 0 && { metadata }),
      },
      signal,
    );
    const { task, message } = isJsonObject(result) ? (result as Readonly<Record<string, unknown>>) : {};
    const read = readTask(task);
    if (read) return { task: read };
    const answer = readMessage(message);
    if (answer !== undefined) return { answer };
    throw this.invalid('a reply without a task and without a message');
  }

  async get(id: string, signal: AbortSignal): Promise<RemoteTask> {
    const task = readTask(await this.call('GetTask', { id, historyLength: 0 }, signal));
    if (task) return task;
    throw this.invalid('a reply without a task');
  }

  async cancel(id: string, signal: AbortSignal): Promise<void> {
    await this.call('CancelTask', { id }, signal);
  }

  private async call(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    const { headers } = this.agent;
    const secrets = secretsOf(this.agent);
    const { status, body } = await this.http.send({
      url: this.endpoint,
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'application/json', 'a2a-version': VERSION },
      body: JSON.stringify({ jsonrpc: '2.0', id: newId(), method, params }),
      secrets,
      signal,
      limits: { timeoutMs: REQUEST_MS, maxBytes: MAX_BYTES, maxRedirects: 0 },
    });
    const reply = parseReply(body, this.agent);
    const error = reply?.['error'];
    if (isJsonObject(error)) throw this.refused(error, status, secrets);
    if (status < 200 || status > 299)
      throw new RemoteAgentError(`${this.name} answered with HTTP ${status}.`, null, status >= 500);
    if (!reply || !('result' in reply)) throw this.invalid('no JSON-RPC response');
    return reply['result'];
  }

  private refused(
    { code, message }: Readonly<Record<string, unknown>>,
    status: number,
    secrets: readonly string[],
  ): RemoteAgentError {
    const text = typeof message === 'string' ? maskSecrets(message.slice(0, 1_000), secrets) : 'without a message';
    const rpcCode = typeof code === 'number' ? code : null;
    return new RemoteAgentError(`${this.name} refused the request: ${text} (${rpcCode})`, rpcCode, status >= 500);
  }

  private invalid(what: string): RemoteAgentError {
    return new RemoteAgentError(`${this.name} sent ${what}.`, null);
  }

  private get name(): string {
    return `Remote agent "${this.agent.name}"`;
  }
}

function secretsOf({ headers }: RemoteAgent): readonly string[] {
  const values = Object.entries(headers).flatMap(([name, value]) => headerSecrets(name, value));
  return values.filter(({ length }) => length >= MIN_SECRET_LENGTH);
}

/**
 * The JSON object of a reply; undefined for another body. An agent may repeat the headers of its request: no model
 * receives them, and no row contains them.
 */
export function parseReply(body: Buffer, agent: RemoteAgent): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = new SecretRedaction(secretsOf(agent)).value(parseExactJson(body.toString('utf8')));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

import { randomUUID } from 'node:crypto';
import type { Artifact, Message, Part, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  type TransportFactory,
} from '@a2a-js/sdk/client';
import { Role } from '@a2a-js/sdk';

type Headings = Readonly<Record<string, string>>;

/** The interfaces of an agent that the SDK speaks. */
export type Binding = 'JSONRPC' | 'HTTP+JSON' | '0.3';

interface ClientChoice {
  readonly agent?: string;
  readonly headers?: Headings;
  readonly binding?: Binding;
}

/** The SDK's own client of an agent. @param headers sent with each request, also for the card */
export async function openClient(
  url: string,
  { agent = 'default', headers = {}, binding = 'JSONRPC' }: ClientChoice = {},
): Promise<Client> {
  const fetchImpl = withHeaders(headers);
  const isFormer = binding === '0.3';
  const legacyCompat = { enabled: isFormer };
  const transport: TransportFactory =
    binding === 'HTTP+JSON'
      ? new RestTransportFactory({ fetchImpl })
      : new JsonRpcTransportFactory({ fetchImpl, legacyCompat });
  const resolver = new DefaultAgentCardResolver({
    fetchImpl: isFormer ? withHeaders({ ...headers, 'a2a-version': '0.3' }) : fetchImpl,
    legacyCompat,
  });
  const factory = new ClientFactory({ transports: [transport], cardResolver: resolver });
  return factory.createFromUrl(url, `/a2a/${agent}/.well-known/agent-card.json`);
}

function withHeaders(headers: Headings): typeof fetch {
  return (input, init) =>
    fetch(input, { ...init, headers: { ...(init?.headers as Record<string, string>), ...headers } });
}

export function textPart(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: '' };
}

export function dataPart(value: unknown): Part {
  return { content: { $case: 'data', value }, metadata: undefined, filename: '', mediaType: 'application/json' };
}

/** A request with a message; a text is its only part. */
export function ask(
  parts: string | readonly Part[],
  message: Partial<Message> = {},
  configuration: Partial<NonNullable<SendMessageRequest['configuration']>> = {},
): SendMessageRequest {
  return {
    tenant: '',
    message: {
      messageId: randomUUID(),
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: typeof parts === 'string' ? [textPart(parts)] : [...parts],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
      ...message,
    },
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: false,
      ...configuration,
    },
    metadata: undefined,
  };
}

/** The task of a reply to a message. */
export async function taskOf(reply: Promise<Task | Message>): Promise<Task> {
  const task = await reply;
  if ('messageId' in task) throw new Error('The agent replied with a message.');
  return task;
}

export function textOf(parts: readonly Part[] = []): string {
  return parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
}

export function dataOf(parts: readonly Part[] = []): Record<string, unknown> {
  const part = parts.find(({ content }) => content?.$case === 'data');
  return part?.content?.value as Record<string, unknown>;
}

/** The text of the answer of a task. */
export function answerOf({ artifacts }: Task): string {
  return textOf(artifacts[0]?.parts);
}

/** The updates of a stream, and the artifacts that a client has after it. */
export class StreamLog {
  readonly updates: StreamResponse[] = [];
  readonly artifacts = new Map<string, string>();

  /** Reads a stream to its end. @param onUpdate called after each update; `false` leaves the stream */
  async read(
    stream: AsyncGenerator<StreamResponse, void>,
    onUpdate: (update: StreamResponse) => unknown = () => undefined,
  ): Promise<this> {
    for await (const update of stream) {
      this.updates.push(update);
      const { payload } = update;
      if (payload?.$case === 'artifactUpdate') this.apply(payload.value.artifact!, payload.value.append);
      if ((await onUpdate(update)) === false) break;
    }
    return this;
  }

  /** Kinds of the updates, with the states of tasks. */
  get kinds(): string[] {
    return this.updates.map(({ payload }) => {
      if (payload?.$case === 'artifactUpdate') return payload.value.append ? 'append' : 'artifact';
      const status = payload?.$case === 'message' ? undefined : payload?.value.status;
      return `${payload?.$case}:${status?.state}`;
    });
  }

  get taskId(): string {
    const [first] = this.updates;
    if (first?.payload?.$case !== 'task') throw new Error('The stream does not begin with a task.');
    return first.payload.value.id;
  }

  private apply({ artifactId, parts }: Artifact, isMore: boolean): void {
    const before = isMore ? (this.artifacts.get(artifactId) ?? '') : '';
    this.artifacts.set(artifactId, before + textOf(parts));
  }
}

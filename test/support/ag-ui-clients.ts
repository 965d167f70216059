import { describe, expect, it } from 'vitest';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

/** A message of a client; the members that tests read. */
export interface ClientMessage {
  readonly id: string;
  readonly role: string;
  readonly content?: string;
  readonly toolCalls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly toolCallId?: string;
}

export interface ClientEvent {
  readonly type: string;
  readonly [member: string]: unknown;
}

export interface Interrupt {
  readonly id: string;
  readonly reason: string;
  readonly message?: string;
  readonly toolCallId?: string;
  readonly responseSchema?: object;
  readonly expiresAt?: string;
}

/** `HttpAgent` of `@ag-ui/client`, as far as tests use it. */
export interface HttpAgent {
  messages: ClientMessage[];
  state: unknown;
  readonly threadId: string;
  readonly pendingInterrupts: readonly Interrupt[];
  addMessage(message: object): void;
  setMessages(messages: readonly object[]): void;
  runAgent(
    parameters?: object,
    subscriber?: { readonly onEvent?: (params: { readonly event: ClientEvent }) => void },
  ): Promise<{ readonly result: unknown; readonly newMessages: readonly ClientMessage[] }>;
  abortRun(): void;
}

/** A version of the packages of AG-UI. */
export interface AgUiClient {
  readonly version: string;
  /** Whether it sends `protocolVersion`. */
  readonly isCurrent: boolean;
  readonly HttpAgent: new (config: object) => HttpAgent;
  /** Checks and applies the events that its method `run` returns. */
  readonly AbstractAgent: new (config: object) => HttpAgent;
  /** An rxjs operator that fails on events in a wrong order. */
  readonly verifyEvents: () => (source: unknown) => unknown;
  readonly EventSchemas: { parse(event: unknown): unknown };
  /** Of rxjs, in the version of the client. */
  readonly from: (events: readonly unknown[]) => { pipe(operator: unknown): { subscribe(observer: object): unknown } };
}

const folder = resolve('test/clients/node_modules');
const isInstalled = existsSync(join(folder, '@ag-ui/client'));

function load(client: string, core: string, isCurrent: boolean): AgUiClient {
  const require = createRequire(join(folder, 'tests.cjs'));
  const { version } = require(`${client}/package.json`) as { version: string };
  const { HttpAgent, AbstractAgent, verifyEvents } = require(client) as Pick<
    AgUiClient,
    'HttpAgent' | 'AbstractAgent' | 'verifyEvents'
  >;
  const { EventSchemas } = require(core) as Pick<AgUiClient, 'EventSchemas'>;
  const { from } = require('rxjs') as Pick<AgUiClient, 'from'>;
  return { version, isCurrent, HttpAgent, AbstractAgent, verifyEvents, EventSchemas, from };
}

/** Tests with both versions of the clients. Without the packages they are skipped by name; with `CI=true` they fail. */
export function describeAgUi(title: string, define: (client: AgUiClient) => void): void {
  for (const [client, core, isCurrent] of [
    ['@ag-ui/client', '@ag-ui/core/schemas', true],
    ['ag-ui-client-0', 'ag-ui-core-0', false],
  ] as const) {
    const isLeftOut = !isInstalled && !process.env['CI'];
    (isLeftOut ? describe.skip : describe)(`${title} with ${client}`, () => {
      if (isInstalled) return define(load(client, core, isCurrent));
      it('has clients: run npm ci --prefix test/clients', () => expect(isInstalled).toBe(true));
    });
  }
}

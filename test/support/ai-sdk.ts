import { beforeAll, describe, expect, it } from 'vitest';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A part of a message of the AI SDK, with the members that tests read. */
export interface UiPart {
  readonly type: string;
  readonly text?: string;
  readonly state?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly errorText?: string;
  readonly providerExecuted?: boolean;
  readonly approval?: { readonly id: string };
}

export interface UiMessage {
  readonly id: string;
  readonly role: string;
  readonly metadata?: { readonly run_id: string; readonly usage?: { readonly total_tokens: number } };
  readonly parts: readonly UiPart[];
}

interface File {
  readonly type: 'file';
  readonly mediaType: string;
  readonly url: string;
}

/** A chat of `useChat`, without React. */
export interface Chat {
  readonly messages: UiMessage[];
  readonly status: string;
  readonly error: Error | undefined;
  sendMessage(message?: { readonly text: string; readonly files?: readonly File[] }): Promise<void>;
  resumeStream(): Promise<void>;
  stop(): Promise<void>;
  addToolApprovalResponse(given: {
    readonly id: string;
    readonly approved: boolean;
    readonly reason?: string;
  }): Promise<void>;
  addToolOutput(given: { readonly tool: string; readonly toolCallId: string; readonly output: unknown }): Promise<void>;
}

interface ToolCall {
  readonly toolName: string;
  readonly toolCallId: string;
  readonly input: unknown;
}

export interface ChatOptions {
  readonly url: string;
  readonly id?: string;
  readonly messages?: readonly UiMessage[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly onToolCall?: (call: { readonly toolCall: ToolCall }) => void;
  readonly sendAutomaticallyWhen?: (given: { readonly messages: UiMessage[] }) => boolean;
  /** Called with each change of a message of the assistant. */
  readonly onMessage?: (message: UiMessage) => void;
}

/** The parts of the package `ai` that the tests use. */
interface Package {
  readonly AbstractChat: new (init: object) => Chat;
  readonly DefaultChatTransport: new (init: object) => object;
  readonly lastAssistantMessageIsCompleteWithToolCalls: (given: { readonly messages: UiMessage[] }) => boolean;
}

/** The package `ai` as an installation of its own has it. */
export class AiSdk {
  constructor(private readonly ai: Package) {}

  get hasAllOutputs(): Package['lastAssistantMessageIsCompleteWithToolCalls'] {
    return this.ai.lastAssistantMessageIsCompleteWithToolCalls;
  }

  chat({ url, headers, body, messages = [], onMessage, ...init }: ChatOptions): Chat {
    const transport = new this.ai.DefaultChatTransport({ api: `${url}/api/agent/ui`, headers, body });
    return new this.ai.AbstractChat({ ...init, transport, state: new State([...messages], onMessage) });
  }
}

/** The state of a chat, which frameworks implement with their own stores. */
class State {
  status = 'ready';
  error: Error | undefined;

  constructor(
    public messages: UiMessage[],
    private readonly onMessage: (message: UiMessage) => void = () => undefined,
  ) {}

  pushMessage = (message: UiMessage): void => this.replaceMessage(this.messages.length, message);
  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (index: number, message: UiMessage): void => {
    this.messages = this.messages.toSpliced(index, 1, this.snapshot(message));
    if (message.role === 'assistant') this.onMessage(message);
  };
  snapshot = <T>(thing: T): T => structuredClone(thing);
}

const PATH = resolve('test/clients/node_modules/ai/dist/index.js');

/** Tests with the package `ai` in test/clients. Without it they are skipped by name; with `CI=true` they fail. */
export function describeAiSdk(title: string, define: (sdk: () => AiSdk) => void): void {
  const isInstalled = existsSync(PATH);
  const isLeftOut = !isInstalled && !process.env['CI'];
  (isLeftOut ? describe.skip : describe)(`${title} with the package ai`, () => {
    if (!isInstalled) {
      it('has the package: npm ci --prefix test/clients', () => expect(isInstalled).toBe(true));
      return;
    }
    let sdk: AiSdk;
    beforeAll(async () => {
      sdk = new AiSdk((await import(pathToFileURL(PATH).href)) as Package);
    });
    define(() => sdk);
  });
}

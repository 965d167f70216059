import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { AiSdk, Chat, ChatOptions, UiPart } from './ai-sdk.js';
import { keyHolder } from './api-keys.js';
import { FakeLlm } from './fake-llm.js';
import { startJackdaw, type Jackdaw } from './jackdaw.js';
import { WaitingTools } from './waiting.tool.js';

export const ANN = keyHolder('ann', 'a', 'user');
export const BOB = keyHolder('bob', 'a', 'user');
/** May not chat. */
export const VIC = keyHolder('vic', 'a', 'viewer');

/** A server with keys, tools that wait, and chats of the AI SDK. */
export class UiWorld {
  llm!: FakeLlm;
  jackdaw!: Jackdaw;
  readonly tools = new WaitingTools();

  private constructor(private readonly sdk: () => AiSdk) {}

  /** Call it at the top of a `describe`. */
  static prepare(sdk: () => AiSdk): UiWorld {
    const world = new UiWorld(sdk);
    beforeAll(async () => {
      world.llm = await FakeLlm.start();
      world.jackdaw = await world.start();
    });
    beforeEach(() => world.tools.done.splice(0));
    afterEach(() => world.llm.reset());
    afterAll(async () => {
      await world.jackdaw.stop();
      await world.llm.close();
    });
    return world;
  }

  async restart(env: Readonly<Record<string, string>>): Promise<void> {
    await this.jackdaw.stop();
    this.jackdaw = await this.start(env);
  }

  /** A chat of Ann. */
  open(options: Partial<ChatOptions> = {}): Chat {
    return this.sdk().chat({ url: this.jackdaw.url, headers: ANN.headers, ...options });
  }

  async ask(text: string, options: Partial<ChatOptions> = {}): Promise<Chat> {
    const chat = this.open(options);
    await chat.sendMessage({ text });
    return chat;
  }

  /** The parts of the last message, without the limits of steps. */
  partsOf({ messages }: Chat): readonly UiPart[] {
    return messages.at(-1)!.parts.filter(({ type }) => type !== 'step-start');
  }

  /** The messages of the last request to the model, without instructions. */
  lastMessages(): unknown[][] {
    const { messages } = this.llm.requests.at(-1)!;
    return messages.slice(1).map(({ role, content }) => [role, content]);
  }

  private start(env: Readonly<Record<string, string>> = {}): Promise<Jackdaw> {
    const { llm, tools } = this;
    const API_KEYS = [ANN, BOB, VIC].map(({ entry }) => entry).join(',');
    const agents = [
      { name: 'default', model: { provider: 'openai' } },
      { name: 'poet', instructions: 'Write poems.', model: { provider: 'openai' } },
    ];
    return startJackdaw({ llm, tools: [tools], env: { API_KEYS, LLM_MAX_ATTEMPTS: '1', ...env }, options: { agents } });
  }
}

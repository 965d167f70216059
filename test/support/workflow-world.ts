import { IsArray, IsInt, IsString } from 'class-validator';
import type { WorkflowInput } from '../../src/index.js';
import { Tool, WorkflowCode, type ToolContext } from '../../src/index.js';
import { FakeLlm } from './fake-llm.js';
import type { FakeReply, FakeRequest } from './fake-llm.types.js';
import { newFolder, startJackdaw, type Answer, type Jackdaw, type StartOptions } from './jackdaw.js';

export class Order {
  @IsString()
  id!: string;
}

class Totals {
  @IsArray()
  @IsInt({ each: true })
  prices!: number[];
}

export class Gift {
  @IsString()
  to!: string;

  @IsInt()
  amount!: number;
}

/** The code and tools of the test workflows; they count their calls, and fail as often as scripted. */
export class OrderSteps {
  readonly loaded: string[] = [];
  readonly refunded: string[] = [];
  /** Number of further failures of `load_order`. */
  failures = 0;
  /** Delays `refund`. */
  gate: Promise<unknown> = Promise.resolve();

  @WorkflowCode({ name: 'load_order', effect: 'read' })
  load({ id }: Order): { id: string; prices: number[]; customer: string } {
    this.loaded.push(id);
    if (this.failures-- > 0) throw new Error('The shelf is locked.');
    return { id, prices: [5, 7, 8], customer: 'Kira' };
  }

  @WorkflowCode({ name: 'add_up', effect: 'read' })
  add({ prices }: Totals): number {
    return prices.reduce((sum, price) => sum + price, 0);
  }

  @Tool({ name: 'refund', description: 'Pays back.' })
  async refund({ id }: Order, _context: ToolContext): Promise<string> {
    await this.gate;
    this.refunded.push(id);
    return `refunded ${id}`;
  }

  @Tool({ name: 'give', description: 'Gives money away.', approval: 'always' })
  give({ to, amount }: Gift): string {
    return `gave ${amount} to ${to}`;
  }
}

type Voice = (request: FakeRequest) => FakeReply;

/** A server with workflows, and its models' replies by their prompt. */
export class WorkflowWorld {
  readonly steps = new OrderSteps();
  readonly folder = newFolder();
  /** By the start of the prompt. */
  readonly voices = new Map<string, Voice>();
  jackdaw!: Jackdaw;

  private constructor(
    readonly llm: FakeLlm,
    private readonly start: StartOptions,
  ) {}

  static async begin(workflows: readonly WorkflowInput[], start: StartOptions = {}): Promise<WorkflowWorld> {
    const llm = await FakeLlm.start();
    const world = new WorkflowWorld(llm, { ...start, options: { ...start.options, workflows } });
    llm.always((request: FakeRequest) => world.answer(request));
    await world.up();
    return world;
  }

  /** Starts the server, again after it was stopped. */
  async up(): Promise<void> {
    const { llm, steps, folder: dataDir } = this;
    // A model that accepts all parameters.
    const env = { LLM_MODEL: 'gpt-4o', ...this.start.env };
    this.jackdaw = await startJackdaw({
      ...this.start,
      env,
      llm,
      dataDir,
      tools: [steps, ...(this.start.tools ?? [])],
    });
  }

  say(voices: Readonly<Record<string, Voice | string>>): void {
    this.llm.requests.length = 0;
    this.voices.clear();
    for (const [question, voice] of Object.entries(voices))
      this.voices.set(question, typeof voice === 'string' ? () => ({ text: voice, usage: [10, 2] }) : voice);
  }

  run(name: string, input: unknown = {}, more: object = {}): Promise<Answer> {
    return this.jackdaw.post(`/api/workflows/${name}/runs`, { input, wait: true, ...more });
  }

  async stop(): Promise<void> {
    await this.jackdaw.stop();
    await this.llm.close();
  }

  private answer(request: FakeRequest): FakeReply {
    const asked = String(request.messages.findLast(({ role }) => role === 'user')?.content);
    const [, voice] = [...this.voices].find(([question]) => asked.startsWith(question)) ?? [];
    return voice?.(request) ?? { text: `re: ${asked}` };
  }
}

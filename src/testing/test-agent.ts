import type { LoggerService } from '@nestjs/common';
import { Agent, type ChatReply, type CreateAgentOptions, openAgent } from '../client/index.js';
import { Cassette } from '../llm/cassette/index.js';
import { Database } from '../persistence/index.js';
import { DueRunService } from '../run/index.js';
import { type ExportedRun, type ReplayCheck, type ReplayCheckOptions, replayRun } from '../run/replay/index.js';
import { crashAt, type CrashPoint } from './crash-point.js';
import { callsOf } from './eval/eval-asker.js';
import type { EvalCall } from './eval/eval.types.js';
import type { FakeProvider } from './provider/fake-provider.js';
import type { ScriptLine } from './script-line.js';
import { ScriptedModel } from './scripted-model.js';
import { CLOCK } from './test-clock.js';
import { TestFolder } from './test-folder.js';

export interface TestAgentOptions extends CreateAgentOptions {
  /**
   * The script of its model, or the model; without it no request is expected, except by a cassette. Excludes `provider`
   * and `chatModel`.
   */
  readonly script?: readonly ScriptLine[] | ScriptedModel;
  /** Its model is reached over HTTP. */
  readonly provider?: FakeProvider;
}

/** A run after a crash. */
export interface Crashed {
  /** The agent of the next process, on the same data. */
  readonly agent: TestAgent;
  /** The outcome of the run that the crash interrupted: it has ended, or waits for a person. */
  readonly reply: ChatReply;
}

const SILENT: LoggerService = { log: none, error: none, warn: none, debug: none, verbose: none, fatal: none };

function none(): void {}

/** Shared by the agents of one test, which follow each other. */
interface Shared {
  readonly options: CreateAgentOptions;
  readonly script: ScriptedModel;
  readonly folder: TestFolder;
}

/** Arguments of `Agent`. */
type Opened = Awaited<ReturnType<typeof openAgent>>;

/** An agent on a temporary folder, with a scripted model. */
export class TestAgent extends Agent {
  /** The model; it has no line if the agent has another model. */
  readonly script: ScriptedModel;
  private next: TestAgent | undefined;
  private isEnding = false;

  private constructor(
    private readonly shared: Shared,
    ...opened: Opened
  ) {
    super(...opened);
    this.script = shared.script;
  }

  static async start({ script, provider, ...options }: TestAgentOptions): Promise<TestAgent> {
    const folder = new TestFolder();
    const model = toModel(script);
    const { cassette } = options;
    const isScripted = script !== undefined || !cassette;
    const hasOwnModel = provider ?? options.chatModel ?? options.llm ?? !isScripted;
    const whole: CreateAgentOptions = {
      logger: SILENT,
      ...options,
      ...(!hasOwnModel && { chatModel: model }),
      // One for all processes.
      ...(typeof cassette === 'string' && { cassette: new Cassette(cassette) }),
      config: { ...folder.variables, ...provider?.env, ...options.config },
    };
    try {
      return await TestAgent.open({ options: whole, script: model, folder });
    } catch (error) {
      folder.remove();
      throw error;
    }
  }

  private static async open(shared: Shared): Promise<TestAgent> {
    return new TestAgent(shared, ...(await openAgent(shared.options)));
  }

  /** The folder with its data. */
  get folder(): string {
    return this.shared.folder.path;
  }

  /**
   * Ends this process at a point of a run as `kill -9` does: nothing after the point becomes durable. The next process
   * then resumes the run.
   * @param start starts the run, with this agent
   * @returns the next agent, and the outcome of the run @throws AssertionError if no run reaches the point
   */
  async crash(point: CrashPoint, start: () => Promise<unknown>): Promise<Crashed> {
    const database = this.services.modules.get(Database, { strict: false });
    const runId = await crashAt(database, point, start, () => this.end());
    const agent = await this.follow();
    return { agent, reply: await agent.outcome(runId) };
  }

  /** The calls of tools of a run so far, in their order. @throws AppError `RUN_NOT_FOUND` */
  async calls({ runId }: Pick<ChatReply, 'runId'>): Promise<EvalCall[]> {
    return callsOf(await this.services.agents.answer(this['principal'], runId));
  }

  /** Checks a recorded run against the agent, its tools and policies. No model and no tool is called. */
  replay(exported: ExportedRun, options?: ReplayCheckOptions): Promise<ReplayCheck> {
    return replayRun(this.services.modules, exported, options);
  }

  /** Closes the agent and starts it again on the same data. @returns the next agent */
  async restart(): Promise<TestAgent> {
    await this.end();
    return this.follow();
  }

  /**
   * Moves the clock of the process, then handles all that is due: requests to people expire, and postponed runs start.
   * Timers of Node are real. `close` returns to the real time.
   * @param ms at least 0
   */
  async advance(ms: number): Promise<void> {
    CLOCK.advance(this.shared, ms);
    await this.services.modules.get(DueRunService, { strict: false }).handleDue();
  }

  /**
   * Closes the agent, or the last of its successors, and removes its data.
   * @throws AssertionError if a request was unexpected, or a line of the script is unused
   */
  override async close(): Promise<void> {
    if (this.next) return this.next.close();
    const isFirst = !this.isEnding;
    await this.end();
    if (!isFirst) return;
    CLOCK.release(this.shared);
    this.shared.folder.remove();
    this.script.assertDone();
    await super.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private end(): Promise<void> {
    this.isEnding = true;
    return this.application.close();
  }

  private async follow(): Promise<TestAgent> {
    this.next = await TestAgent.open(this.shared);
    return this.next;
  }
}

function toModel(script: TestAgentOptions['script'] = []): ScriptedModel {
  return script instanceof ScriptedModel ? script : new ScriptedModel(script);
}

/**
 * Creates an agent for a test: on a temporary folder, with a scripted model and without a log. It takes the options of
 * `createAgent`. Close it at the end: that also checks the script.
 */
export function createTestAgent(options: TestAgentOptions = {}): Promise<TestAgent> {
  return TestAgent.start(options);
}

import { Worker } from 'node:worker_threads';
import { loadPackage } from '../../errors/index.js';
import { TimeLimit } from '../../kernel/index.js';
import type { ScriptCall, ScriptLimits, ScriptReply, ScriptRequest, ScriptResult } from './script-message.types.js';

/** Limits of a script. */
const SCRIPT_LIMITS: ScriptLimits = {
  memoryBytes: 32 * 1024 * 1024,
  steps: 5_000,
  calls: 200,
  valueChars: 1_000_000,
};
/** Maximum time between two waits of a script, in ms; a script that does not allocate reaches its steps before. */
const TURN_MS = 5_000;
/** Maximum start time of a thread, in ms. */
const START_MS = 10_000;
/** Maximum scripts at the same time in this process; each has a thread. */
const MAX_SCRIPTS = 64;
/** Threads that wait for the next script. */
const MAX_IDLE = 2;

const PACKAGES = ['quickjs-emscripten-core', '@jitl/quickjs-wasmfile-release-sync'];

/** Outcome of a script. A stopped one waits for a person, and is executed again. */
export type ScriptOutcome =
  /** The returned value as JSON; `undefined` if the script returned nothing. */
  | { readonly kind: 'returned'; readonly value: string | undefined }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'stopped' };

/** Executes the calls of a script, which waits for all. @returns their results in order; `null` stops the script */
export type AnswerCalls = (calls: readonly ScriptCall[]) => Promise<readonly ScriptResult[] | null>;

/** A script with the names of the tools that it can call. */
export interface GivenScript {
  readonly script: string;
  readonly tools: readonly string[];
}

const idle: ScriptThread[] = [];
let running = 0;

/**
 * Runs a script in a thread of its own. The event loop is free meanwhile.
 * @throws the signal's reason when it is aborted; the errors of `answer`
 */
export async function runScript(given: GivenScript, signal: AbortSignal, answer: AnswerCalls): Promise<ScriptOutcome> {
  signal.throwIfAborted();
  if (running >= MAX_SCRIPTS) return failed(`${MAX_SCRIPTS} scripts run in this process: try again later`);
  running++;
  const thread = idle.pop() ?? new ScriptThread();
  const end = (): void => thread.terminate();
  signal.addEventListener('abort', end);
  try {
    const outcome = await thread.run(given, answer);
    signal.throwIfAborted();
    return outcome;
  } finally {
    running--;
    signal.removeEventListener('abort', end);
    if (thread.isFree && idle.length < MAX_IDLE) idle.push(thread);
    else thread.terminate();
  }
}

/** Ends the idle threads. */
export function releaseScriptThreads(): void {
  for (const thread of idle.splice(0)) thread.terminate();
}

/** Checks that the packages of scripts are installed. @throws AppError `CONFIG_INVALID` */
export async function assertScriptPackages(): Promise<void> {
  await loadPackage(PACKAGES, 'codeMode', async () => {
    await import('quickjs-emscripten-core');
    await import('@jitl/quickjs-wasmfile-release-sync');
  });
}

/** A thread that runs one script at a time. An idle thread does not delay the end of the process. */
class ScriptThread {
  private readonly worker = startScriptWorker();
  private readonly ready: Promise<ScriptReply>;
  private settle: ((reply: ScriptReply) => void) | null = null;
  private limit: TimeLimit | undefined;
  /** Why the thread ended. */
  private fault: string | undefined;
  /** Whether the last script has ended by itself, so that the thread can run another one. */
  isFree = false;

  constructor() {
    this.worker.on('message', (reply: ScriptReply) => this.received(reply));
    this.worker.on('error', ({ message }) => this.ended(message));
    this.worker.on('exit', () => this.ended('its thread ended'));
    this.ready = this.next(START_MS);
  }

  async run({ script, tools }: GivenScript, answer: AnswerCalls): Promise<ScriptOutcome> {
    this.isFree = false;
    this.worker.ref();
    const started = await this.ready;
    if (started.kind === 'failed') return failed(`its thread does not start: ${started.message}`);
    let reply = await this.send({ kind: 'start', script, tools, limits: SCRIPT_LIMITS });
    while (reply.kind === 'calls') {
      const results = await answer(reply.calls);
      if (!results) return { kind: 'stopped' };
      reply = await this.send({ kind: 'results', results });
    }
    this.isFree = this.fault === undefined;
    this.worker.unref();
    if (reply.kind === 'returned') return { kind: 'returned', value: reply.value };
    return reply.kind === 'failed' ? reply : failed('its thread started twice');
  }

  terminate(): void {
    this.isFree = false;
    void this.worker.terminate();
    this.ended('it was stopped');
  }

  private send(request: ScriptRequest): Promise<ScriptReply> {
    const reply = this.next(TURN_MS);
    // The rule is for windows of a browser.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    this.worker.postMessage(request);
    return reply;
  }

  /** The next message of the thread; a failure after the limit, in ms, or after the end of the thread. */
  private next(ms: number): Promise<ScriptReply> {
    if (this.fault !== undefined) return Promise.resolve(failed(`it stopped: ${this.fault}`));
    return new Promise((resolve) => {
      this.settle = resolve;
      this.limit = new TimeLimit(ms, () => this.terminateLate(ms)).unref();
    });
  }

  private received(reply: ScriptReply): void {
    this.limit?.clear();
    this.settle?.(reply);
    this.settle = null;
  }

  private terminateLate(ms: number): void {
    void this.worker.terminate();
    this.ended(`it took more than ${ms} ms without a call`);
  }

  private ended(fault: string): void {
    this.fault ??= fault;
    this.isFree = false;
    const at = idle.indexOf(this);
    if (at >= 0) idle.splice(at, 1);
    this.received(failed(`it stopped: ${this.fault}`));
  }
}

function failed(reason: string): { readonly kind: 'failed'; readonly message: string } {
  return { kind: 'failed', message: `The script did not end: ${reason}.` };
}

/** Starts the thread of scripts; in tests, from TypeScript, which Node runs, too. */
function startScriptWorker(): Worker {
  const options = {
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 64, stackSizeMb: 4 },
  };
  if (import.meta.url.endsWith('.ts')) return new Worker(sourceOf('./script.executor.ts'), options);
  // Bundlers find the file by this form.
  return new Worker(new URL('./script.executor.js', import.meta.url), options);
}

function sourceOf(file: string): URL {
  return new URL(file, import.meta.url);
}

/**
 * The thread that runs one script at a time in QuickJS, without clock, random numbers, network and files. Each script has
 * a virtual machine of its own. The client of the thread terminates it when a script takes too long. Node also runs this
 * file as TypeScript, so it imports no other file of this package.
 */
import { parentPort } from 'node:worker_threads';
import variant from '@jitl/quickjs-wasmfile-release-sync';
import {
  DefaultIntrinsics,
  newQuickJSWASMModuleFromVariant,
  type QuickJSContext,
  type QuickJSDeferredPromise,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core';
import type { ScriptCall, ScriptLimits, ScriptReply, ScriptRequest, ScriptResult } from './script-message.types.js';

/** Maximum stack of a script, in bytes; its thread has a larger one. */
const MAX_STACK_BYTES = 256 * 1024;
/** Maximum length of an error's message, in UTF-16 units. */
const MAX_MESSAGE = 600;

/** A place in the script in the stack of an error. */
const LINE = /<input>:(\d+)/;
/** Lines that the constructor of functions puts before the script. */
const LINES_BEFORE = 2;

/**
 * Makes the tools and starts the script. The script cannot replace its parts: those of JSON are read before, and
 * `await` does not call a replaced `then`. `console` does nothing, as the result is the only output.
 */
const PRELUDE = `
(call, names, script, maxChars) => {
  const { parse, stringify } = JSON;
  const refuse = Error;
  delete Math.random;
  const tools = Object.create(null);
  for (const name of parse(names)) {
    tools[name] = async (input = {}) => {
      const text = stringify(input);
      if (text === undefined) throw new refuse('The arguments of ' + name + ' must be an object.');
      if (text.length > maxChars) throw new refuse('The arguments of ' + name + ' are larger than ' + maxChars + ' characters.');
      return parse(await call(name, text));
    };
  }
  const known = Object.keys(tools).join(', ');
  const offered = new Proxy(Object.freeze(tools), {
    get(all, name) {
      if (name in all || typeof name === 'symbol' || name === 'then') return all[name];
      throw new refuse('There is no tool "' + name + '" for scripts; there is: ' + known + '.');
    },
  });
  const console = Object.freeze({ log() {}, info() {}, warn() {}, error() {}, debug() {} });
  const AsyncFunction = (async () => {}).constructor;
  const start = new AsyncFunction('tools', 'console', script);
  return (async () => {
    const text = stringify(await start(offered, console));
    if (text !== undefined && text.length > maxChars)
      throw new refuse('The returned value is larger than ' + maxChars + ' characters: return less.');
    return text;
  })();
}`;

class Script {
  private readonly pending = new Map<number, QuickJSDeferredPromise>();
  private started: ScriptCall[] = [];
  private made = 0;
  private steps = 0;
  private readonly runtime: QuickJSRuntime;
  private readonly context: QuickJSContext;
  private readonly limits: ScriptLimits;
  private readonly end: QuickJSHandle;

  constructor(
    runtime: QuickJSRuntime,
    context: QuickJSContext,
    { script, tools, limits }: Extract<ScriptRequest, { kind: 'start' }>,
  ) {
    this.runtime = runtime;
    this.context = context;
    this.limits = limits;
    runtime.setMemoryLimit(limits.memoryBytes);
    runtime.setMaxStackSize(MAX_STACK_BYTES);
    runtime.setInterruptHandler(() => ++this.steps > limits.steps);
    const prelude = context.unwrapResult(context.evalCode(PRELUDE, 'jackdaw.js'));
    const call = context.newFunction('call', (tool, text) =>
      this.call(context.getString(tool), context.getString(text)),
    );
    const names = context.newString(JSON.stringify(tools));
    const started = context.callFunction(
      prelude,
      context.undefined,
      call,
      names,
      context.newString(script),
      context.newNumber(limits.valueChars),
    );
    this.end = context.unwrapResult(started);
  }

  /** Executes the script until it waits for calls or ends. */
  proceed(): ScriptReply {
    const jobs = this.runtime.executePendingJobs();
    if (this.steps > this.limits.steps)
      throw new Error(`The script did more than ${this.limits.steps * 10_000} operations.`);
    if (jobs.error) return this.failed(jobs.error);
    if (this.started.length > 0) {
      const calls = this.started;
      this.started = [];
      return { kind: 'calls', calls };
    }
    const state = this.context.getPromiseState(this.end);
    switch (state.type) {
      case 'pending':
        throw new Error('The script waits for a promise that nothing resolves: await only calls of tools.');
      case 'rejected':
        return this.failed(state.error);
      case 'fulfilled': {
        const value: unknown = this.context.dump(state.value);
        return { kind: 'returned', ...(typeof value === 'string' && { value }) };
      }
    }
  }

  /** Gives the script the results of its last calls, in the order of the calls: the same in each execution. */
  resolve(results: readonly ScriptResult[]): void {
    for (const [at, [n, promise]] of [...this.pending].entries()) {
      this.pending.delete(n);
      const result = results[at]!;
      if ('value' in result) promise.resolve(this.context.newString(result.value));
      else promise.reject(this.errorOf(result));
    }
  }

  private failed(error: QuickJSHandle): ScriptReply {
    return { kind: 'failed', message: this.messageOf(error) };
  }

  private messageOf(error: QuickJSHandle): string {
    const thrown: unknown = this.context.dump(error);
    if (typeof thrown !== 'object' || thrown === null)
      return `The script threw ${String(thrown).slice(0, MAX_MESSAGE)}.`;
    const {
      name = 'Error',
      message = '',
      stack = '',
    } = thrown as Partial<Record<'name' | 'message' | 'stack', unknown>>;
    const line = Number(LINE.exec(String(stack))?.[1]) - LINES_BEFORE;
    return `${textOf({ name: String(name), message: String(message) })}${line > 0 ? ` (line ${line})` : ''}`;
  }

  private call(tool: string, text: string): QuickJSHandle {
    const { context, limits } = this;
    const promise = context.newPromise();
    if (++this.made > limits.calls) {
      promise.reject(
        this.errorOf({ error: `A script can make ${limits.calls} calls at most.`, code: 'TOO_MANY_CALLS' }),
      );
    } else {
      this.pending.set(this.made, promise);
      this.started.push({ n: this.made, tool, arguments: text });
    }
    return promise.handle;
  }

  private errorOf({ error, code }: Extract<ScriptResult, { error: string }>): QuickJSHandle {
    const made = this.context.newError({ name: 'ToolError', message: error });
    this.context.setProp(made, 'code', this.context.newString(code));
    return made;
  }
}

let current: Script | null = null;

parentPort!.on('message', (request: ScriptRequest) => void handle(request));
send({ kind: 'ready' });

async function handle(request: ScriptRequest): Promise<void> {
  try {
    if (request.kind === 'start') current = await begin(request);
    else current!.resolve(request.results);
    send(current!.proceed());
  } catch (error) {
    send({ kind: 'failed', message: textOf(error as Error) });
  }
}

async function begin(request: Extract<ScriptRequest, { kind: 'start' }>): Promise<Script> {
  // Without the script before it, whose virtual machine is collected as a whole.
  current = null;
  // The types of the package are those for CommonJS.
  const module = await newQuickJSWASMModuleFromVariant(variant as unknown as QuickJSSyncVariant);
  const runtime = module.newRuntime();
  const context = runtime.newContext({ intrinsics: { ...DefaultIntrinsics, Date: false } });
  return new Script(runtime, context, request);
}

/** The error of a script that does not start, such as a syntax error. */
function textOf({ name, message }: Pick<Error, 'name' | 'message'>): string {
  return `${name}: ${message}`.slice(0, MAX_MESSAGE);
}

function send(reply: ScriptReply): void {
  // The rule is for windows of a browser.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  parentPort!.postMessage(reply);
}

import 'reflect-metadata';
import type { DynamicModule, INestApplicationContext, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DirectCallService, toCallValue } from '../agent/index.js';
import { hostName, type EnvRecord } from '../config/index.js';
import { JackdawModule, type JackdawOptions } from '../jackdaw.module.js';
import type { Principal } from '../kernel/index.js';
import type { JsonValue } from '../kernel/json/index.js';
import { Database } from '../persistence/index.js';
import { DueRunService } from '../run/index.js';
import { crashAt, type CrashPoint } from './crash-point.js';
import type { FakeProvider } from './provider/fake-provider.js';
import type { ScriptLine } from './script-line.js';
import { ScriptedModel } from './scripted-model.js';
import { CLOCK } from './test-clock.js';
import { TestFolder } from './test-folder.js';

type NestModule = Type | DynamicModule;

export interface TestApplicationOptions<App extends INestApplicationContext = INestApplicationContext> {
  /** Options of Jackdaw, for a module that does not import `JackdawModule.forRoot` itself. */
  readonly jackdaw?: Omit<JackdawOptions, 'config'> & { readonly config?: EnvRecord };
  /** The script of the model, or the model; for a module that does not import `JackdawModule.forRoot` itself. */
  readonly script?: readonly ScriptLine[] | ScriptedModel;
  /** The model is reached over HTTP; by default there is only the offline model. */
  readonly provider?: FakeProvider;
  /** Creates the application, such as `(module) => NestFactory.create(module)`; by default one without HTTP. */
  readonly create?: (module: DynamicModule) => Promise<App>;
}

/** The principal of direct calls without another one. */
const TESTER: Principal = { id: 'tester', tenant: 'default', roles: ['admin'] };

class TestRootModule {}

/** A Nest application on a temporary folder. */
export class TestApplication<App extends INestApplicationContext = INestApplicationContext> {
  private next: TestApplication<App> | undefined;
  private isClosed = false;

  private constructor(
    readonly app: App,
    /** The model; it has no line if the module imports `JackdawModule.forRoot` itself. */
    readonly script: ScriptedModel,
    private readonly data: TestFolder,
    private readonly open: () => Promise<App>,
  ) {}

  static async start<App extends INestApplicationContext>(
    load: () => NestModule | Promise<NestModule>,
    { jackdaw, script = [], provider, create }: TestApplicationOptions<App>,
  ): Promise<TestApplication<App>> {
    const data = new TestFolder();
    const model = script instanceof ScriptedModel ? script : new ScriptedModel(script);
    const variables = { ...data.variables, ...provider?.env };
    const open = () =>
      withVariables(variables, async () => {
        const module = await load();
        const config = { ...variables, ...jackdaw?.config };
        const chatModel = provider ? {} : { chatModel: model };
        const own = importsJackdaw(module) ? [] : [JackdawModule.forRoot({ ...chatModel, ...jackdaw, config })];
        return createWhole({ module: TestRootModule, imports: [...own, module] }, create);
      });
    try {
      return new TestApplication(await open(), model, data, open);
    } catch (error) {
      data.remove();
      throw error;
    }
  }

  /** The folder with its data. */
  get folder(): string {
    return this.data.path;
  }

  /** A provider of any module. */
  get<T>(token: (abstract new (...injected: never) => T) | string | symbol): T {
    return this.app.get<T>(token, { strict: false });
  }

  /**
   * Ends this process at a point of a run, as `TestAgent.crash`. The next process resumes the run.
   * @param start starts the run, in this application
   * @returns the next application, and the id of the run
   */
  async crash(
    point: CrashPoint,
    start: () => Promise<unknown>,
  ): Promise<{ readonly application: TestApplication<App>; readonly runId: string }> {
    const runId = await crashAt(this.get(Database), point, start, () => this.app.close());
    this.next = new TestApplication(await this.open(), this.script, this.data, this.open);
    return { application: this.next, runId };
  }

  /** Moves the clock of the process, as `TestAgent.advance`. @param ms at least 0 */
  async advance(ms: number): Promise<void> {
    CLOCK.advance(this.data, ms);
    await this.get(DueRunService).handleDue();
  }

  /**
   * Closes the application, or the last of its successors, and removes its data.
   * @throws AssertionError if a request was unexpected, or a line of the script is unused
   */
  async close(): Promise<void> {
    if (this.next) return this.next.close();
    if (this.isClosed) return;
    this.isClosed = true;
    await this.app.close();
    CLOCK.release(this.data);
    this.data.remove();
    this.script.assertDone();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/**
 * Starts a Nest module with Jackdaw for a test: on SQLite in a temporary folder, and without network. A module that imports
 * `JackdawModule.forRoot` itself gets its variables from the environment, so import its file inside of `load`; the
 * variables in its own `config` apply too.
 * @param load returns the module
 */
export function startTestApplication<App extends INestApplicationContext = INestApplicationContext>(
  load: () => NestModule | Promise<NestModule>,
  options: TestApplicationOptions<App> = {},
): Promise<TestApplication<App>> {
  return TestApplication.start(load, options);
}

/**
 * Calls a tool as a run of its own, with the policies, and with the guards, pipes and interceptors of the method.
 * @param target a running application, or a module, which is started for this call
 * @returns the result
 * @throws AppError with the code of the call if it failed or was refused; `RUN_WAITING` while a person must decide
 */
export async function callTool(
  target: TestApplication | INestApplicationContext | NestModule,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
  principal: Principal = TESTER,
): Promise<JsonValue> {
  if (typeof target === 'function' || 'module' in target) {
    await using application = await startTestApplication(() => target);
    return await callTool(application, name, args, principal);
  }
  const { app = target } = target as Partial<TestApplication>;
  const calls = (app as INestApplicationContext).get(DirectCallService, { strict: false });
  return toCallValue(await calls.call(principal, name, { arguments: args }));
}

async function createWhole<App extends INestApplicationContext>(
  module: DynamicModule,
  create: ((module: DynamicModule) => Promise<App>) | undefined,
): Promise<App> {
  const app = create
    ? await create(module)
    : ((await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false })) as unknown as App);
  return await app.init();
}

/** Runs the work with variables of Jackdaw in the environment, as a module reads them when its file is loaded. */
async function withVariables<T>(variables: Readonly<Record<string, string>>, work: () => Promise<T>): Promise<T> {
  const { env } = process;
  const set = Object.entries(variables).map(([name, value]) => [hostName(name), value] as const);
  const former = set.map(([name]) => [name, env[name]] as const);
  for (const [name, value] of set) env[name] = value;
  try {
    return await work();
  } finally {
    for (const [name, value] of former) {
      if (value === undefined) Reflect.deleteProperty(env, name);
      else env[name] = value;
    }
  }
}

/** Whether a module, or one that it imports, has Jackdaw. @param seen modules that were searched */
function importsJackdaw(module: unknown, seen = new Set<unknown>()): boolean {
  if (seen.has(module)) return false;
  seen.add(module);
  if (typeof module === 'function') return importsOf(module).some((one) => importsJackdaw(one, seen));
  if (typeof module !== 'object' || module === null) return false;
  if ('forwardRef' in module) return importsJackdaw((module.forwardRef as () => unknown)(), seen);
  if (!('module' in module)) return false;
  const { module: type, imports = [] } = module as DynamicModule;
  return type === JackdawModule || [...imports, type].some((one) => importsJackdaw(one, seen));
}

function importsOf(type: object): unknown[] {
  return (Reflect.getMetadata('imports', type) as unknown[] | undefined) ?? [];
}

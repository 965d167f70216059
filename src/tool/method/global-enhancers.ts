import { Catch, type ExceptionFilter, Inject, Injectable, Optional } from '@nestjs/common';
import { type ApplicationConfig, type ContextId, ExternalContextCreator, ModulesContainer } from '@nestjs/core';
import { HttpExceptionFilter } from '../../errors/index.js';
import { isHttpOnly } from '../../kernel/nest/index.js';
import { containerOf, Injector, type InstanceWrapper } from '../../kernel/nest/nest-internals.js';
import { TOOL_ENHANCER_KINDS, TOOL_ENHANCERS, type ToolEnhancerKind } from './tool-enhancer.module.js';

type Host = NonNullable<InstanceWrapper['host']>;

/** Nest's lists of global enhancers: instances, and wrappers of request-scoped and transient ones. */
const LISTS = {
  guards: ['getGlobalGuards', 'getGlobalRequestGuards'],
  interceptors: ['getGlobalInterceptors', 'getGlobalRequestInterceptors'],
  pipes: ['getGlobalPipes', 'getGlobalRequestPipes'],
  filters: ['getGlobalFilters', 'getGlobalRequestFilters'],
} as const satisfies Record<ToolEnhancerKind, readonly (keyof ApplicationConfig)[]>;

/** The last filter: without it Nest logs an exception that no filter handles; the executor of the call logs it, too. */
@Catch()
class RethrowFilter implements ExceptionFilter {
  catch(thrown: unknown): never {
    throw thrown;
  }
}

const RETHROW = new RethrowFilter();

/** Instances of scoped global enhancers for one call. */
type ScopedInstances = ReadonlyMap<InstanceWrapper, object>;

/** Decides which global enhancers (`APP_*`, `app.useGlobal…()`) run for tool calls: those that `toolEnhancers` names. */
@Injectable()
export class GlobalEnhancers {
  private readonly injector = new Injector();
  /** For calls without scoped global enhancers. */
  readonly contexts: ExternalContextCreator;

  constructor(
    private readonly creator: ExternalContextCreator,
    private readonly modules: ModulesContainer,
    @Optional() @Inject(TOOL_ENHANCERS) private readonly kinds: readonly ToolEnhancerKind[] = [],
  ) {
    this.contexts = this.contextsWith(new Map());
  }

  /** Whether a call needs its own instances of global enhancers. */
  get hasScoped(): boolean {
    return this.kinds.some((kind) => this.scoped(kind).length > 0);
  }

  /** Class names of the skipped enhancers; those of Jackdaw that serve HTTP requests only are not listed. */
  get skipped(): readonly string[] {
    const kinds = TOOL_ENHANCER_KINDS.filter((kind) => !this.kinds.includes(kind));
    const names = kinds.flatMap((kind) => [
      ...this.instances(kind).map((enhancer) => enhancer.constructor.name),
      ...this.scoped(kind).map(({ metatype, name }) => metatype?.name ?? String(name)),
    ]);
    return [...new Set(names)];
  }

  /** The pipeline of one call, with its own instances of scoped global enhancers. */
  async contextsOf(contextId: ContextId): Promise<ExternalContextCreator> {
    const wrappers = this.kinds.flatMap((kind) => this.scoped(kind));
    const loaded = wrappers.map(async (wrapper): Promise<[InstanceWrapper, object]> => {
      const host = wrapper.host!;
      const placeholder = wrapper.instance as object;
      return [wrapper, await this.injector.loadPerContext(placeholder, host, host.injectables, contextId, wrapper)];
    });
    return loaded.length === 0 ? this.contexts : this.contextsWith(new Map(await Promise.all(loaded)));
  }

  /** Creates the instance of a scoped provider for one call, without the global enhancers that Nest adds to a controller. */
  loadProvider(wrapper: InstanceWrapper, instance: object, contextId: ContextId): Promise<object> {
    const host = wrapper.host!;
    const globals = new Set(TOOL_ENHANCER_KINDS.flatMap((kind) => this.scoped(kind)));
    const bound = (wrapper.getEnhancersMetadata() ?? []).filter((enhancer) => !globals.has(enhancer));
    const own = Object.create(wrapper, { getEnhancersMetadata: { value: () => bound } }) as InstanceWrapper;
    return this.injector.loadPerContext(instance, host, new Map([[wrapper.token, own]]), contextId, own);
  }

  /**
   * Nest's pipeline with the named global enhancers only. It finds the enhancers of controllers too: Nest searches the
   * module of a method among providers.
   */
  private contextsWith(instances: ScopedInstances): ExternalContextCreator {
    const container = containerOf(this.creator);
    const lists = TOOL_ENHANCER_KINDS.flatMap((kind) => {
      const [all, scoped] = LISTS[kind];
      const named = () => [...this.instances(kind), ...this.scoped(kind).flatMap((one) => instances.get(one) ?? [])];
      const last = kind === 'filters' ? [RETHROW] : [];
      const value = () => [...last, ...(this.kinds.includes(kind) ? named() : [])];
      return [[all, { value }] as const, [scoped, { value: () => [] }] as const];
    });
    const applicationConfig = Object.create(container.applicationConfig!, Object.fromEntries(lists)) as unknown;
    const view = Object.create(container, { applicationConfig: { value: applicationConfig } }) as typeof container;
    const contexts = ExternalContextCreator.fromContainer(view);
    const getContextModuleKey: ExternalContextCreator['getContextModuleKey'] = (type) => {
      const isHost = ({ controllers }: Host) => type !== undefined && controllers.has(type);
      const found = ExternalContextCreator.prototype.getContextModuleKey.call(contexts, type);
      return found || ([...this.modules].find(([, host]) => isHost(host))?.[0] ?? '');
    };
    return Object.assign(contexts, { getContextModuleKey });
  }

  private instances(kind: ToolEnhancerKind): readonly object[] {
    const all: readonly (object | null | undefined)[] = this.config[LISTS[kind][0]]();
    return all.filter(
      (one): one is object => Boolean(one) && !isHttpOnly(one!) && !(one instanceof HttpExceptionFilter),
    );
  }

  private scoped(kind: ToolEnhancerKind): readonly InstanceWrapper[] {
    return this.config[LISTS[kind][1]]() as readonly InstanceWrapper[];
  }

  private get config(): ApplicationConfig {
    return containerOf(this.creator).applicationConfig!;
  }
}

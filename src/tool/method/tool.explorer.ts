import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, ModuleRef, ModulesContainer } from '@nestjs/core';
import { AppError, Log, toAppError } from '../../errors/index.js';
import { InstanceWrapper } from '../../kernel/nest/nest-internals.js';
import {
  EXCEPTION_FILTERS_METADATA,
  GUARDS_METADATA,
  INTERCEPTORS_METADATA,
  PIPES_METADATA,
} from '../../kernel/nest/nest-metadata.js';
import { ToolRegistry } from '../tool.registry.js';
import type { Tool } from '../tool.types.js';
import { GlobalEnhancers } from './global-enhancers.js';
import { MethodHandlerFactory, type ToolProvider } from './method-handler.factory.js';
import { createMethodTool } from './method-tool.factory.js';
import { type DeclaredTool, ToolMetadataAccessor } from './tool-metadata.accessor.js';
import { parameterPipes } from './tool-parameter.decorator.js';
import { TOOL_METADATA } from './tool.decorator.js';

const ENHANCERS = [GUARDS_METADATA, INTERCEPTORS_METADATA, PIPES_METADATA, EXCEPTION_FILTERS_METADATA];

/**
 * Classes bound by `@UseGuards` and the like that Nest has not instantiated. Nest instantiates only those of class
 * providers and silently ignores the others. An ignored guard is a security hole, so such a tool is rejected.
 */
function missingEnhancers({ wrapper, declared: { instance, method } }: ToolProvider): string[] {
  const places = [(instance as Record<string, object>)[method]!, instance.constructor];
  const bound = places.flatMap((place) =>
    ENHANCERS.flatMap((key) => (Reflect.getMetadata(key, place) as unknown[] | undefined) ?? []),
  );
  const classes = [...bound, ...parameterPipes(instance.constructor, method)].filter(
    (enhancer) => typeof enhancer === 'function',
  );
  return classes.filter((type) => !wrapper.host?.injectables.has(type)).map((type) => type.name);
}

type Wrapper = ToolProvider['wrapper'];
type Host = NonNullable<Wrapper['host']>;

/** A provider and its instance. */
interface Provided {
  readonly instance: object;
  readonly wrapper: Wrapper;
}

/**
 * Registers the methods with `@Tool` of all providers and controllers at start: after their instantiation, and before
 * the init hooks of dependent modules. Tools of lazily loaded modules are registered on request.
 */
@Injectable()
export class ToolExplorer implements OnModuleInit {
  private readonly logger = new Log('ToolExplorer');
  /** Tools by instance, so that a repeated registration or an alias of the provider gets the same ones. */
  private readonly created = new WeakMap<object, Promise<readonly Tool[]>>();
  private readonly standIns = new WeakMap<Wrapper, object>();
  /** Registered modules, each with the modules that it imported. */
  private readonly explored = new Map<Host, readonly Host[]>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly accessor: ToolMetadataAccessor,
    private readonly handlers: MethodHandlerFactory,
    private readonly registry: ToolRegistry,
    private readonly modules: ModulesContainer,
    private readonly globals: GlobalEnhancers,
  ) {
    registry.useModules((moduleRef) => this.registerModule(moduleRef));
  }

  async onModuleInit(): Promise<void> {
    const hosts = [...this.modules.values()];
    const tools = await this.toolsOf(hosts);
    let type: string | undefined;
    for (const tool of tools) {
      const { source } = tool.metadata;
      const declaring = source.slice(0, source.lastIndexOf('.'));
      if (declaring !== type) this.logger.log(`Registering tools from ${declaring}`);
      type = declaring;
      this.registry.register(tool);
      this.logger.log(`Registered tool: ${tool.definition.name}`);
    }
    for (const host of hosts) this.explored.set(host, [host]);
    this.reportSkipped();
  }

  private reportSkipped(): void {
    const { skipped } = this.globals;
    if (skipped.length === 0) return;
    const remedy = 'to run them for tool calls, name their kinds in toolEnhancers';
    this.logger.log(`Tool calls skip these global enhancers: ${skipped.join(', ')}; ${remedy}`);
  }

  /**
   * Methods marked under another key than that of `@Tool`, as unregistered tools.
   * @throws AppError `TOOL_INVALID` with all mistakes
   */
  marked(key: string): Promise<Tool[]> {
    return this.allOf([...this.modules.values()], key, ({ instance, wrapper }) => {
      return this.createAll(this.accessor.declaredTools(instance, key), wrapper);
    });
  }

  /**
   * Registers the tools of an object that Nest did not create: all or none.
   * @returns their names @throws AppError `TOOL_INVALID`, also without any tool; `TOOL_DUPLICATE`
   */
  async register(instance: object): Promise<readonly string[]> {
    const { name } = instance.constructor;
    const wrapper = new InstanceWrapper({ name, token: name, instance, isResolved: true });
    const problems = this.accessor.problems(typeOf(instance));
    if (problems.length > 0) throw refusalOf(problems.map(invalid));
    const declared = this.accessor.declaredTools(instance);
    if (declared.length === 0) throw new AppError('TOOL_INVALID', `${name}: no method of it bears @Tool.`);
    const tools = await this.createAll(declared, wrapper);
    this.registry.registerAll(tools);
    return tools.map(({ definition }) => definition.name);
  }

  /** See `ToolRegistry.registerModule`. */
  async registerModule(moduleRef: ModuleRef): Promise<readonly string[]> {
    const host = this.hostOf(moduleRef);
    const hosts = this.explored.get(host) ?? this.unexplored(host);
    const tools = await this.toolsOf(hosts);
    const fresh = tools.filter(({ definition: { name }, metadata }) => {
      return !this.registry.has(name) || this.registry.get(name).metadata !== metadata;
    });
    this.registry.registerAll(fresh);
    for (const one of hosts) if (one !== host && !this.explored.has(one)) this.explored.set(one, [one]);
    this.explored.set(host, hosts);
    for (const { definition, metadata } of fresh) {
      this.logger.log(`Registered tool: ${definition.name} (${metadata.source} of ${metadata.module})`);
    }
    return tools.map(({ definition }) => definition.name);
  }

  private hostOf(moduleRef: unknown): Host {
    const host =
      moduleRef instanceof ModuleRef &&
      [...this.modules.values()].find(({ providers }) => providers.get(ModuleRef)?.instance === moduleRef);
    if (host) return host;
    throw new AppError(
      'TOOL_INVALID',
      'registerModule(): this is not a ModuleRef of the application; pass what LazyModuleLoader.load() resolved to.',
    );
  }

  /** The module and its imported modules whose tools are not registered. */
  private unexplored(root: Host): readonly Host[] {
    const found = new Set([root]);
    for (const host of found) {
      for (const one of host.imports) if (!this.explored.has(one)) found.add(one);
    }
    return [...found];
  }

  /** @throws AppError `TOOL_INVALID` with all mistakes */
  private toolsOf(hosts: readonly Host[]): Promise<Tool[]> {
    return this.allOf(hosts, TOOL_METADATA, ({ instance, wrapper }) => {
      let tools = this.created.get(instance);
      if (!tools) {
        tools = this.createAll(this.accessor.declaredTools(instance), wrapper);
        this.created.set(instance, tools);
      }
      return tools;
    });
  }

  private async allOf(
    hosts: readonly Host[],
    key: string,
    create: (provider: Provided) => Promise<readonly Tool[]>,
  ): Promise<Tool[]> {
    const provided = this.providedBy(hosts);
    const types = new Set(provided.map(({ instance }) => typeOf(instance)));
    const problems = new Set([...types].flatMap((type) => this.accessor.problems(type, key)));
    const outcomes = await Promise.allSettled(provided.map(create));
    const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    const refusals = failures.map((reason) => toAppError(reason));
    if (problems.size + refusals.length > 0) throw refusalOf([...problems].map(invalid).concat(refusals));
    return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []));
  }

  private providedBy(hosts: readonly Host[]): Provided[] {
    const modules = [...hosts];
    const wrappers = [...this.discovery.getControllers({}, modules), ...this.discovery.getProviders({}, modules)];
    const seen = new Set<unknown>();
    return wrappers.flatMap((wrapper) => {
      const instance = instanceOf(wrapper, this.standIns);
      if (!instance || seen.has(instance)) return [];
      seen.add(instance);
      return [{ instance, wrapper }];
    });
  }

  private async createAll(declared: readonly DeclaredTool[], wrapper: Wrapper): Promise<readonly Tool[]> {
    const outcomes = await Promise.allSettled(declared.map((one) => this.create({ declared: one, wrapper })));
    const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    if (failures.length > 0) throw refusalOf(failures.map((reason) => toAppError(reason)));
    return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  }

  private async create(provider: ToolProvider): Promise<Tool> {
    const { declared, wrapper } = provider;
    const missing = missingEnhancers(provider);
    if (missing.length > 0) {
      throw new AppError(
        'TOOL_INVALID',
        `${declared.source}: ${missing.join(', ')} would not be run, since its provider is a value or a factory: provide its class, or bind instances (new …()).`,
      );
    }
    return createMethodTool(declared, this.handlers.create(provider), wrapper.host && this.nameOf(wrapper.host));
  }

  /** Name of a module; an ambiguous name, as of dynamic modules, includes the importing modules. */
  private nameOf(host: Host): string {
    const modules = [...this.modules.values()];
    if (modules.every((one) => one === host || one.name !== host.name)) return host.name;
    const importers = modules.filter((one) => !host.isGlobal && one.imports.has(host)).map(({ name }) => name);
    return importers.length === 0 ? host.name : `${host.name} in ${importers.join(', ')}`;
  }
}

/** A scoped factory provider has no instance before a call; the class that is its token has the decorators. */
function instanceOf(wrapper: Wrapper, standIns: WeakMap<Wrapper, object>): object | null {
  const instance: unknown = wrapper.instance;
  if (typeof instance === 'object' && instance !== null) return instance;
  const { token } = wrapper;
  const isScoped = wrapper.isTransient || !wrapper.isDependencyTreeStatic();
  if (!wrapper.isFactory || wrapper.isAlias || !isScoped || typeof token !== 'function') return null;
  const known = standIns.get(wrapper);
  const standIn = known ?? (Object.create(token.prototype as object | null) as object);
  standIns.set(wrapper, standIn);
  return standIn;
}

/** Reads the prototype only: a property access on a foreign object may have side effects. */
function typeOf(instance: object): unknown {
  return (Object.getPrototypeOf(instance) as object | null)?.constructor;
}

function invalid(message: string): AppError {
  return new AppError('TOOL_INVALID', message);
}

function refusalOf(errors: readonly AppError[]): AppError {
  const [first, ...rest] = errors;
  if (first && rest.length === 0) return first;
  const lines = errors.map((error) => `\n- ${error.message}`).join('');
  return new AppError('TOOL_INVALID', `${errors.length} tools are refused:${lines}`);
}

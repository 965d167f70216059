import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { AppError, toAppError } from '../../common/index.js';
import { ToolRegistry } from '../tool.registry.js';
import type { Tool } from '../tool.types.js';
import { missingEnhancers } from './enhancer.policy.js';
import { MethodHandlerFactory, type ToolProvider } from './method-handler.factory.js';
import { createMethodTool } from './method-tool.factory.js';
import { ToolMetadataAccessor } from './tool-metadata.accessor.js';

/**
 * Walks all providers and controllers once, when every one of them exists and before the hooks of the modules above
 * run, and registers the methods that bear `@Tool`.
 */
@Injectable()
export class ToolExplorer implements OnModuleInit {
  private readonly logger = new Logger('ToolExplorer');

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly accessor: ToolMetadataAccessor,
    private readonly handlers: MethodHandlerFactory,
    private readonly registry: ToolRegistry,
  ) {}

  async onModuleInit(): Promise<void> {
    let type: string | undefined;
    for (const tool of await this.marked()) {
      const { source } = tool.metadata;
      const declaring = source.slice(0, source.lastIndexOf('.'));
      if (declaring !== type) this.logger.log(`Registering tools from ${declaring}`);
      type = declaring;
      this.registry.register(tool);
      this.logger.log(`Registered tool: ${tool.definition.name}`);
    }
  }

  /**
   * The methods that bear `@Tool`, or a mark of another key, as tools; nothing is registered.
   * @throws AppError `TOOL_INVALID` with every mistake
   */
  async marked(key?: string): Promise<Tool[]> {
    const outcomes = await Promise.allSettled(this.toolProviders(key).map((provider) => this.create(provider)));
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
    if (failures.length > 0) throw refusalOf(failures.map(({ reason }) => toAppError(reason)));
    return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  }

  /**
   * Registers the tools of an object that Nest did not make: all of them, or none.
   * @returns their names @throws AppError `TOOL_INVALID`, also when it has none; `TOOL_DUPLICATE`
   */
  async register(instance: object): Promise<readonly string[]> {
    const { name } = instance.constructor;
    const wrapper = new InstanceWrapper({ name, token: name, instance, isResolved: true });
    const declared = this.accessor.declaredTools(instance);
    if (declared.length === 0) throw new AppError('TOOL_INVALID', `${name}: no method of it bears @Tool.`);
    const tools: Tool[] = [];
    for (const one of declared) tools.push(await this.create({ declared: one, wrapper }));
    this.registry.registerAll(tools);
    return tools.map(({ definition }) => definition.name);
  }

  private toolProviders(key?: string): ToolProvider[] {
    const seen = new Set<object>();
    return [...this.discovery.getControllers(), ...this.discovery.getProviders()].flatMap((wrapper) => {
      const instance: unknown = wrapper.instance;
      if (typeof instance !== 'object' || instance === null || seen.has(instance)) return [];
      seen.add(instance);
      return this.accessor.declaredTools(instance, key).map((declared) => ({ declared, wrapper }));
    });
  }

  private async create(provider: ToolProvider): Promise<Tool> {
    const { declared } = provider;
    const missing = missingEnhancers(provider);
    if (missing.length > 0) {
      throw new AppError(
        'TOOL_INVALID',
        `${declared.source}: ${missing.join(', ')} would not be run, since its provider is a value or a factory: provide its class, or bind instances (new …()).`,
      );
    }
    return createMethodTool(declared, this.handlers.create(provider));
  }
}

function refusalOf(errors: readonly AppError[]): AppError {
  const [first, ...rest] = errors;
  if (first && rest.length === 0) return first;
  const lines = errors.map((error) => `\n- ${error.message}`).join('');
  return new AppError('TOOL_INVALID', `${errors.length} tools are refused:${lines}`);
}

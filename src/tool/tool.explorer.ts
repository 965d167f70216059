import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { AppError, toAppError } from '../common/index.js';
import { boundEnhancers } from './enhancer.policy.js';
import { createMethodTool } from './method-tool.factory.js';
import { type DeclaredTool, ToolMetadataAccessor } from './tool-metadata.accessor.js';
import { ToolRegistry } from './tool.registry.js';
import type { Tool } from './tool.types.js';

type Wrapper = ReturnType<DiscoveryService['getProviders']>[number];

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
    private readonly registry: ToolRegistry,
  ) {}

  async onModuleInit(): Promise<void> {
    const outcomes = await Promise.allSettled(this.declaredTools().map((declared) => this.create(declared)));
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
    if (failures.length > 0) throw refusalOf(failures.map(({ reason }) => toAppError(reason)));
    let instance: object | undefined;
    for (const outcome of outcomes) {
      if (outcome.status !== 'fulfilled') continue;
      const { declared, tool } = outcome.value;
      const from = declared.instance.constructor.name;
      if (declared.instance !== instance) this.logger.log(`Registering tools from ${from}`);
      instance = declared.instance;
      this.registry.register(tool);
      this.logger.log(`Registered tool: ${tool.definition.name}`);
    }
  }

  private declaredTools(): (DeclaredTool & { wrapper: Wrapper })[] {
    const seen = new Set<object>();
    return [...this.discovery.getControllers(), ...this.discovery.getProviders()].flatMap((wrapper) => {
      const instance: unknown = wrapper.instance;
      if (typeof instance !== 'object' || instance === null || seen.has(instance)) return [];
      seen.add(instance);
      return this.accessor.declaredTools(instance).map((declared) => ({ ...declared, wrapper }));
    });
  }

  private async create(declared: DeclaredTool & { wrapper: Wrapper }): Promise<{ declared: DeclaredTool; tool: Tool }> {
    const { wrapper, source } = declared;
    if (wrapper.isTransient || !wrapper.isDependencyTreeStatic()) {
      const scope = wrapper.isTransient ? 'transient' : 'request-scoped';
      throw new AppError(
        'TOOL_INVALID',
        `${source}: its provider is ${scope} (itself or by what it injects), and tools of such providers are not served yet: make the provider a singleton.`,
      );
    }
    const enhancers = boundEnhancers(declared);
    if (enhancers.length > 0) {
      throw new AppError(
        'TOOL_INVALID',
        `${source}: ${enhancers.join(', ')} are bound to it, and they are not run for tools yet: check in the method, by its ToolContext.`,
      );
    }
    return { declared, tool: await createMethodTool(declared) };
  }
}

function refusalOf(errors: readonly AppError[]): AppError {
  const [first, ...rest] = errors;
  if (first && rest.length === 0) return first;
  const lines = errors.map((error) => `\n- ${error.message}`).join('');
  return new AppError('TOOL_INVALID', `${errors.length} tools are refused:${lines}`);
}

import { Injectable, Module } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import { Tool, ToolContext, ToolRegistry } from '../../src/index.js';

@Injectable()
class TravelTools {
  @Tool({ description: 'Lists flights.', effect: 'read' })
  flights(@ToolContext() { tenant }: ToolContext): string {
    return `LH1, KL2 for ${tenant}`;
  }
}

/** Usually in a file of its own, which `load` imports. */
@Module({ providers: [TravelTools] })
export class TravelModule {}

@Injectable()
export class Travel {
  constructor(
    private readonly lazy: LazyModuleLoader,
    private readonly tools: ToolRegistry,
  ) {}

  /** May be called again: the module is loaded once, and its tools are registered once. */
  async load(): Promise<readonly string[]> {
    return this.tools.registerModule(await this.lazy.load(() => TravelModule));
  }
}

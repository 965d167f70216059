import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AppError, Log } from '../../errors/index.js';
import { ToolRegistry } from '../../tool/index.js';
import { type Tool, ToolExplorer } from '../../tool/method/index.js';
import { CODE_METADATA } from './workflow-code.decorator.js';

/** The methods with `@WorkflowCode`, by name. */
@Injectable()
export class CodeRegistry implements OnModuleInit {
  private readonly logger = new Log('CodeRegistry');
  private readonly code = new Map<string, Tool>();

  constructor(
    private readonly explorer: ToolExplorer,
    private readonly tools: ToolRegistry,
  ) {}

  /** @throws AppError `TOOL_INVALID`, `WORKFLOW_INVALID` naming both places of a duplicate name */
  async onModuleInit(): Promise<void> {
    for (const tool of await this.explorer.marked(CODE_METADATA)) {
      const { name } = tool.definition;
      const other = this.code.get(name);
      if (other) {
        const places = `${other.metadata.source} and ${tool.metadata.source}`;
        throw new AppError('WORKFLOW_INVALID', `Two steps of code are named "${name}": ${places}; rename one.`);
      }
      this.code.set(name, this.tools.wrapped(tool));
      this.logger.log(`Registered code: ${name}`);
    }
  }

  find(name: string): Tool | undefined {
    return this.code.get(name);
  }

  names(): string[] {
    return [...this.code.keys()];
  }
}

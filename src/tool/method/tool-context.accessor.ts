import type { ArgumentsHost, ExecutionContext } from '@nestjs/common';
import { ExecutionContextHost } from '../../kernel/nest-metadata.js';
import type { ToolRequest } from '../call/tool-request.factory.js';

/** Value of `ExecutionContext.getType()` during a tool call. */
export const TOOL_CONTEXT_TYPE = 'tool';

/** Execution context of a tool call, for guards, interceptors and filters: `ToolExecutionContext.create(context)`. */
export class ToolExecutionContext extends ExecutionContextHost {
  /** @throws TypeError for a context of another type than `tool`; check `getType()` first */
  static create(context: ExecutionContext | ArgumentsHost): ToolExecutionContext {
    const type = context.getType<string>();
    if (type !== TOOL_CONTEXT_TYPE) {
      throw new TypeError(`This is an execution context of type "${type}", not of a tool call: ask getType() first.`);
    }
    const created = new ToolExecutionContext(context.getArgs(), classOf(context), handlerOf(context));
    created.setType(type);
    return created;
  }

  /**
   * The call: tool, arguments, principal, tenant, session, run, signal. The same object as the method's `ToolContext`.
   */
  getRequest(): ToolRequest {
    return this.getArgByIndex<ToolRequest>(0);
  }
}

function classOf(context: ExecutionContext | ArgumentsHost) {
  return 'getClass' in context ? context.getClass() : undefined;
}

function handlerOf(context: ExecutionContext | ArgumentsHost) {
  return 'getHandler' in context ? context.getHandler() : undefined;
}

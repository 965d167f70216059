import type { ArgumentsHost, ExecutionContext } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { ToolRequest } from '../call/tool-request.factory.js';

/** What `ExecutionContext.getType()` says while a tool is called. */
export const TOOL_CONTEXT_TYPE = 'tool';

/** An execution context of a tool call, for guards, interceptors and filters: `ToolExecutionContext.create(context)`. */
export class ToolExecutionContext extends ExecutionContextHost {
  /** Throws a TypeError when the context is of another type than `tool`: ask `getType()` first. */
  static create(context: ExecutionContext | ArgumentsHost): ToolExecutionContext {
    const type = context.getType<string>();
    if (type !== TOOL_CONTEXT_TYPE) {
      throw new TypeError(`This is an execution context of type "${type}", not of a tool call: ask getType() first.`);
    }
    const created = new ToolExecutionContext(context.getArgs(), classOf(context), handlerOf(context));
    created.setType(type);
    return created;
  }

  /** The call: its tool, arguments, principal, tenant, session, run, signal; the same object as the method's `ToolContext`. */
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

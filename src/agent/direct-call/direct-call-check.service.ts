import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import { fieldMistake, type Principal } from '../../kernel/index.js';
import { assertSessionId, SessionService } from '../../session/index.js';
import { toolDisabled, ToolExecutor, ToolRegistry } from '../../tool/index.js';
import { ToolSwitchService } from '../../tool-policy/index.js';

/** Checks a direct call before its run is journaled. */
@Injectable()
export class DirectCallCheckService {
  constructor(
    private readonly tools: ToolRegistry,
    private readonly executor: ToolExecutor,
    private readonly switches: ToolSwitchService,
    private readonly sessions: SessionService,
  ) {}

  /**
   * Checks that the tool exists, is enabled and accepts these arguments.
   * @param args JSON text of an object
   * @throws AppError `TOOL_NOT_FOUND`, `TOOL_DISABLED`, `TOOL_INVALID_ARGUMENTS`
   */
  async tool({ tenant }: Principal, name: string, args: string): Promise<void> {
    await this.tools.arrived([name], NEVER);
    const tool = this.tools.get(name);
    if ((await this.switches.disabled(tenant)).has(name)) throw toolDisabled(name);
    const checked = await this.executor.check({ name, arguments: args }, new Map([[name, tool]]));
    if (checked.kind !== 'rejected' || checked.result.success) return;
    const { code, error } = checked.result;
    const errors = checked.mistakes ?? [fieldMistake('arguments', error, 'isArguments', {})];
    throw new AppError(code, `Tool "${name}" was not called: ${error}`, {
      details: { tool: name, errors },
    });
  }

  /** Checks that the session exists. @throws AppError `VALIDATION_FAILED`, `SESSION_NOT_FOUND` */
  async session(principal: Principal, id: string): Promise<void> {
    assertSessionId(id, 'sessionId');
    await this.sessions.get(principal, id);
  }
}

/** Never aborts: the wait for announced tools always ends by itself. */
const NEVER = new AbortController().signal;

import { AppError } from '../../errors/index.js';

/** Port to the tools that are disabled per tenant. */
export abstract class ToolSwitch {
  /** Names of a tenant's disabled tools. */
  abstract disabled(tenant: string): ReadonlySet<string> | Promise<ReadonlySet<string>>;
}

/** Switches outside of an application: every tool is enabled. */
export class NoToolSwitch extends ToolSwitch {
  private readonly none: ReadonlySet<string> = new Set();

  disabled(): ReadonlySet<string> {
    return this.none;
  }
}

/** Error for a call of a disabled tool. */
export function toolDisabled(name: string): AppError {
  const message = `Tool "${name}" is disabled: continue without it, or ask an admin to enable it.`;
  return new AppError('TOOL_DISABLED', message, { details: { tool: name } });
}

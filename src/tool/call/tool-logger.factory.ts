import { Log } from '../../errors/index.js';

/** Logger of a call: adds tool, run and session to each line of the application's log. */
export class ToolLogger {
  private static readonly logger = new Log('Tool');

  constructor(
    private readonly tool: string,
    private readonly site: { readonly runId: string; readonly sessionId: string | null },
  ) {}

  debug(message: string, fields?: Readonly<Record<string, unknown>>): void {
    ToolLogger.logger.debug(this.line(fields), message);
  }

  log(message: string, fields?: Readonly<Record<string, unknown>>): void {
    ToolLogger.logger.log(this.line(fields), message);
  }

  warn(message: string, fields?: Readonly<Record<string, unknown>>): void {
    ToolLogger.logger.warn(this.line(fields), message);
  }

  error(message: string, fields?: Readonly<Record<string, unknown>>): void {
    ToolLogger.logger.error(this.line(fields), message);
  }

  private line(fields?: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const { runId: run_id, sessionId: session_id } = this.site;
    return { ...fields, tool: this.tool, run_id, session_id };
  }
}

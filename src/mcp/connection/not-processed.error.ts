import { McpError } from '../mcp.error.js';

/** The server certainly did not process the call: the caller may repeat it on the next connection. */
export class NotProcessedError extends McpError {
  constructor(failure: McpError) {
    super(failure.code, failure.message, failure.details, { cause: failure.cause });
  }
}

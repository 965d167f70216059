import { McpError } from '../mcp.error.js';

/** The server has surely not taken the call: whoever made it may make it again, on the connection that is being made. */
export class NotTakenError extends McpError {
  constructor(failure: McpError) {
    super(failure.code, failure.message, failure.details, { cause: failure.cause });
  }
}

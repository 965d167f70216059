/** That nobody lets us in, or that we give nobody a secret; the message completes "MCP server …:". */
export class AccessError extends Error {
  override readonly name = 'AccessError';
}

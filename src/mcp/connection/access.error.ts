/** Authentication failed, or sending a credential was refused; the message completes "MCP server …:". */
export class AccessError extends Error {
  override readonly name = 'AccessError';
}

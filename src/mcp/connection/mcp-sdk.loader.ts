type Sdk = typeof import('@modelcontextprotocol/client');
type StdioSdk = typeof import('@modelcontextprotocol/client/stdio');

/** Loads the official SDK, which takes 150 ms, with the first MCP server only. */
export async function loadMcpSdk(): Promise<Sdk> {
  return import('@modelcontextprotocol/client');
}

/** The part of the SDK for servers that are programs. */
export async function loadStdioSdk(): Promise<StdioSdk> {
  return import('@modelcontextprotocol/client/stdio');
}

type Sdk = typeof import('@modelcontextprotocol/client');
type StdioSdk = typeof import('@modelcontextprotocol/client/stdio');

/** The official SDK takes 150 ms to load: nobody waits for that who has no MCP server. */
export async function loadMcpSdk(): Promise<Sdk> {
  return import('@modelcontextprotocol/client');
}

/** What only servers need that are programs. */
export async function loadStdioSdk(): Promise<StdioSdk> {
  return import('@modelcontextprotocol/client/stdio');
}

/** The content of the MCP servers file. */
export interface McpServersFile {
  readonly path: string;
  /** By name, as declared, with variables substituted. */
  readonly servers: Readonly<Record<string, unknown>>;
}

/** Client settings for MCP servers. */
export interface McpClientConfig {
  readonly file: McpServersFile;
  /** Time limit of one call, in ms. */
  readonly timeoutMs: number;
  /** Maximum size of a server's message, in bytes. */
  readonly maxMessageBytes: number;
  /** Absolute paths of the only programs that may be started; absent: any program. */
  readonly allowedCommands?: readonly string[];
  /** Whether servers may be added over REST. */
  readonly isRestOpen: boolean;
}

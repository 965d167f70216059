/** What stands in the file of MCP servers. */
export interface McpServersFile {
  readonly path: string;
  /** By their names, as they stand there with their variables filled in. */
  readonly servers: Readonly<Record<string, unknown>>;
}

/** The MCP servers whose tools agents use. */
export interface McpClientConfig {
  readonly file: McpServersFile;
  /** The longest that one call may take, in ms. */
  readonly timeoutMs: number;
  /** The longest message of a server, in bytes. */
  readonly maxMessageBytes: number;
  /** Absolute paths of the only programs that may be started; without it any. */
  readonly allowedCommands?: readonly string[];
  /** Whether servers may be added over REST. */
  readonly isRestOpen: boolean;
}

/** The MCP server or REST document of a tool. */
export interface ToolOrigin {
  /** Unique name, for people: `MCP server "files"`. */
  readonly name: string;
  /** Its own hosts, in lower case; arguments may name them. */
  readonly hosts: readonly string[];
  /** Whether calls only read, by the server's believed hint or the HTTP method. */
  readonly isReadOnly: boolean;
}

/** A view of a tool's results that its MCP server provides (MCP Apps, 2026-01-26). */
export interface ToolApp {
  /** Name of the MCP server. */
  readonly server: string;
  /** `ui://…` URI of the view, if the tool has one. */
  readonly uri?: string;
  /** Whether models may call the tool; otherwise only the view does. */
  readonly isForModels: boolean;
  /** The members `ui` and `ui/…` of the tool's `_meta`, as the server sent them. */
  readonly meta: Readonly<Record<string, unknown>>;
}

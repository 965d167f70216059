/** A content block of a request (platform.claude.com, "Messages"). */
export interface WireBlock {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface WireTurn {
  readonly role: 'user' | 'assistant';
  readonly content: readonly WireBlock[];
}

/** The used fields of a reply's block; none is validated yet. */
export interface ReplyBlock {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly thinking?: unknown;
  readonly signature?: unknown;
  readonly data?: unknown;
  readonly id?: unknown;
  readonly name?: unknown;
  readonly input?: unknown;
}

/** A complete block of a reply. */
export type WholeBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly arguments: string };

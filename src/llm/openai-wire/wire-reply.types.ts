/** The used fields of a reply; none is validated yet, since providers and proxies differ. */
export interface WireReply {
  readonly model?: unknown;
  readonly choices?: unknown;
  readonly usage?: unknown;
  readonly x_groq?: { readonly usage?: unknown } | null;
}

export interface WireChoice {
  readonly message?: WireMessage | null;
  readonly delta?: WireMessage | null;
  readonly finish_reason?: unknown;
  readonly usage?: unknown;
}

export interface WireMessage {
  readonly content?: unknown;
  readonly refusal?: unknown;
  readonly reasoning_content?: unknown;
  readonly reasoning?: unknown;
  readonly tool_calls?: unknown;
}

export interface WireToolCall {
  readonly index?: unknown;
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
  readonly extra_content?: { readonly google?: { readonly thought_signature?: unknown } | null } | null;
}

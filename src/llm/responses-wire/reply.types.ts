/** The used fields of a reply; none is validated yet, since servers differ. */
export interface WireResponse {
  readonly status?: unknown;
  readonly incomplete_details?: { readonly reason?: unknown } | null;
  readonly error?: unknown;
  readonly output?: unknown;
  readonly usage?: unknown;
  readonly model?: unknown;
}

/** An item of `output`: a message, a call, or reasoning; others are ignored. */
export interface WireItem {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly status?: unknown;
  readonly phase?: unknown;
  readonly content?: unknown;
  readonly call_id?: unknown;
  readonly name?: unknown;
  readonly arguments?: unknown;
  readonly summary?: unknown;
  readonly encrypted_content?: unknown;
}

/** A part of a message or of reasoning. */
export interface WirePart {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly refusal?: unknown;
}

/** The used fields of an event of a stream. */
export interface WireEvent {
  readonly type?: unknown;
  readonly output_index?: unknown;
  readonly item_id?: unknown;
  readonly summary_index?: unknown;
  readonly content_index?: unknown;
  readonly delta?: unknown;
  readonly item?: unknown;
  readonly response?: unknown;
}

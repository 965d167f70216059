import type { OutgoingReply } from '../../security/index.js';
import type { ToolStateHandle } from '../../tool-state/index.js';
import { jsonOf } from '../rest-reply.parser.js';
import type { RestRequest } from '../rest-request.builder.js';
import type { ConnectionPlan } from './connection-plan.factory.js';
import { HeldCookies } from './cookie-jar.factory.js';
import { HeldTokens } from './held-token.factory.js';

/** Minimum length of a redacted value: redacting shorter ones would damage ordinary text. */
const FEWEST_CHARACTERS = 8;

/** Cookies and tokens of a session during one call. They pass between server and state only, never to the model. */
export class RestSession {
  private constructor(
    private readonly handle: ToolStateHandle,
    private readonly tokens: HeldTokens,
    private readonly cookies: HeldCookies | undefined,
  ) {}

  static async open({ hasCookies, tokens }: ConnectionPlan, handle: ToolStateHandle, url: URL): Promise<RestSession> {
    const { held } = handle;
    const cookies = hasCookies ? await HeldCookies.of(held) : undefined;
    return new RestSession(handle, new HeldTokens(tokens, held, url.origin), cookies);
  }

  /** Values to redact from results and logs, in addition to the tool's own secrets. */
  get secrets(): readonly string[] {
    const values = [...this.tokens.values, ...(this.cookies?.values ?? [])];
    return values.filter(({ length }) => length >= FEWEST_CHARACTERS);
  }

  /** Adds the session's headers, cookies and secrets to a request. */
  requestOf(request: RestRequest): RestRequest & { readonly cookies?: HeldCookies } {
    return {
      ...request,
      headers: { ...request.headers, ...this.tokens.headers() },
      secrets: [...request.secrets, ...this.secrets],
      ...(this.cookies && { cookies: this.cookies }),
    };
  }

  /** Captures the tokens of a successful reply. @throws AppError `TOOL_FAILED` for a token that cannot be stored */
  capture(reply: OutgoingReply): void {
    if (reply.status >= 200 && reply.status <= 299) this.tokens.take(jsonOf(reply));
  }

  /** Stores changed cookies and tokens, also after a failed call. */
  close(): void {
    const changes = { ...this.cookies?.changes(), ...this.tokens.changes() };
    if (Object.keys(changes).length > 0) this.handle.hold(changes);
  }
}

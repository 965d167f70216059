import type { OutgoingReply } from '../../../security/index.js';
import type { ToolStateHandle } from '../../state/tool-state-handle.factory.js';
import { jsonOf } from '../rest-reply.parser.js';
import type { RestRequest } from '../rest-request.builder.js';
import type { ConnectionPlan } from './connection-plan.factory.js';
import { HeldCookies } from './cookie-jar.factory.js';
import { HeldTokens } from './held-token.factory.js';

/** Shorter values are words of everyday life: taking them out of results would leave nothing of those. */
const FEWEST_CHARACTERS = 8;

/** What one call says and hears of its session: cookies and tokens, which go between the servers and the state alone. */
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

  /** What is neither the model's nor a log's business, beside the tool's own secrets. */
  get secrets(): readonly string[] {
    const values = [...this.tokens.values, ...(this.cookies?.values ?? [])];
    return values.filter(({ length }) => length >= FEWEST_CHARACTERS);
  }

  /** The request with what the session adds to it. */
  requestOf(request: RestRequest): RestRequest & { readonly cookies?: HeldCookies } {
    return {
      ...request,
      headers: { ...request.headers, ...this.tokens.headers() },
      secrets: [...request.secrets, ...this.secrets],
      ...(this.cookies && { cookies: this.cookies }),
    };
  }

  /** Takes the tokens of a reply, if it is a good one. @throws AppError `TOOL_FAILED` for one that cannot be kept */
  hear(reply: OutgoingReply): void {
    if (reply.status >= 200 && reply.status <= 299) this.tokens.take(jsonOf(reply));
  }

  /** Keeps what came, also of a call that failed. */
  close(): void {
    const changes = { ...this.cookies?.changes(), ...this.tokens.changes() };
    if (Object.keys(changes).length > 0) this.handle.hold(changes);
  }
}

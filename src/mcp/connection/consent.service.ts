import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { McpOAuthProvider } from '../oauth-provider.types.js';

/**
 * Lets a message wait for a person's consent when the server wants one: the provider sends the person to the
 * authorization server, and the message is sent again when they have come back.
 */
export class Consent {
  /** Being waited for, by all messages of the connection. */
  pending: Promise<void> | null = null;

  constructor(
    private readonly transport: StreamableHTTPClientTransport,
    private readonly provider: McpOAuthProvider,
    private readonly signal: AbortSignal,
  ) {
    const send = transport.send.bind(transport);
    transport.send = async (message, options) => {
      await this.pending;
      try {
        await send(message, options);
      } catch (error) {
        if (!isConsentWanted(error) || !provider.authorizationResponse) throw error;
        await this.given();
        await send(message, options);
      }
    };
  }

  private async given(): Promise<void> {
    this.pending ??= this.finish().finally(() => (this.pending = null));
    await this.pending;
  }

  private async finish(): Promise<void> {
    const { provider, signal } = this;
    const response = await provider.authorizationResponse!(signal);
    signal.throwIfAborted();
    await this.transport.finishAuth(response);
  }
}

function isConsentWanted(error: unknown): boolean {
  return error instanceof Error && error.name === 'UnauthorizedError';
}

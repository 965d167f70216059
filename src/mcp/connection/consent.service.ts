import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { McpOAuthProvider } from '../oauth-provider.types.js';

/**
 * Delays a message until a person consents, if the server requires it. The provider sends the person to the
 * authorization server, and the message is sent again after the person has returned.
 */
export class Consent {
  /** The pending consent, shared by all messages of the connection. */
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
        await this.awaitConsent();
        await send(message, options);
      }
    };
  }

  private async awaitConsent(): Promise<void> {
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

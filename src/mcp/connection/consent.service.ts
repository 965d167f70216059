import type { SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { McpOAuthProvider } from '../oauth-provider.types.js';

/**
 * Delays a message until a person consents, if the server requires it. The provider sends the person to the
 * authorization server, and the message is sent again after the person has returned.
 */
export class Consent {
  /** The pending consent, shared by all messages of the connection. */
  pending: Promise<void> | null = null;

  constructor(
    private readonly transport: StreamableHTTPClientTransport | SSEClientTransport,
    private readonly provider: McpOAuthProvider,
    private readonly signal: AbortSignal,
  ) {
    const start = transport.start.bind(transport);
    transport.start = () => this.started(start());
    const send: StreamableHTTPClientTransport['send'] = transport.send.bind(transport);
    transport.send = async (message: Parameters<typeof send>[0], options?: Parameters<typeof send>[1]) => {
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

  /** A stream that was refused cannot be opened again: the next transport uses the consent. */
  private async started(start: Promise<void>): Promise<void> {
    try {
      await start;
    } catch (error) {
      if (isConsentWanted(error) && this.provider.authorizationResponse)
        void this.awaitConsent().catch(() => undefined);
      throw error;
    }
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

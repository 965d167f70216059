import type {
  JSONRPCMessage,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client';
import type { McpOAuthProvider } from '../oauth-provider.types.js';

/**
 * Delays a message until a person consents, if the server requires it. The provider sends the person to the
 * authorization server, and the message is sent again after the person has returned.
 */
export class ConsentTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** The pending consent, shared by all messages of the connection. */
  pending: Promise<void> | null = null;

  constructor(
    private readonly inner: StreamableHTTPClientTransport | SSEClientTransport,
    private readonly provider: McpOAuthProvider,
    private readonly signal: AbortSignal,
  ) {
    Object.assign(inner, {
      onclose: () => this.onclose?.(),
      onerror: (error: Error) => this.onerror?.(error),
      onmessage: (message: JSONRPCMessage) => this.onmessage?.(message),
    } satisfies Partial<Transport>);
  }

  get sessionId(): string | undefined {
    return 'sessionId' in this.inner ? this.inner.sessionId : undefined;
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion(version);
  }

  /** A stream that was refused cannot be opened again: the next transport uses the consent. */
  async start(): Promise<void> {
    try {
      await this.inner.start();
    } catch (error) {
      if (isConsentWanted(error) && this.provider.authorizationResponse)
        void this.awaitConsent().catch(() => undefined);
      throw error;
    }
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    await this.pending;
    try {
      await this.transmit(message, options);
    } catch (error) {
      if (!isConsentWanted(error) || !this.provider.authorizationResponse) throw error;
      await this.awaitConsent();
      await this.transmit(message, options);
    }
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  private transmit(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    return (this.inner as Transport).send(message, options);
  }

  private async awaitConsent(): Promise<void> {
    this.pending ??= this.finish().finally(() => (this.pending = null));
    await this.pending;
  }

  private async finish(): Promise<void> {
    const { provider, signal } = this;
    const response = await provider.authorizationResponse!(signal);
    signal.throwIfAborted();
    await this.inner.finishAuth(response);
  }
}

function isConsentWanted(error: unknown): boolean {
  return error instanceof Error && error.name === 'UnauthorizedError';
}

import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppError, Log, messageOf } from '../errors/index.js';
import { canonicalJson, isJsonObject, type JsonValue } from '../kernel/json/index.js';
import { ToolPinStore } from '../mcp/index.js';
import { OutgoingClient } from '../security/egress/index.js';
import { parseReply } from './remote-agent.client.js';
import type { RemoteAgent } from './remote-agent.types.js';

type Given = Readonly<Record<string, unknown>>;

/** An agent's interface that this client speaks. */
export interface RemoteEndpoint {
  readonly url: URL;
  /** Whether a repeated message gets the task of the first one. */
  readonly isIdempotent: boolean;
}

/** Time after which a card is read again, in ms. */
const FRESH_MS = 300_000;
const LIMITS = { timeoutMs: 30_000, maxBytes: 1024 * 1024, maxRedirects: 0 } as const;
/** Members without meaning for calls; they change with each release of the agent. */
const UNPINNED: readonly string[] = ['version', 'signatures'];
const IDEMPOTENT_MESSAGES = 'urn:jackdaw:a2a:idempotent-messages:v1';
/** Name of the card among the pins of an agent. */
const CARD = 'card';

/** Reads the cards of remote agents, and pins them as the definitions of MCP servers. */
@Injectable()
export class RemoteCardService {
  private readonly logger = new Log('RemoteAgents');
  private readonly known = new Map<string, RemoteEndpoint & { readonly at: number }>();

  constructor(
    private readonly http: OutgoingClient,
    private readonly pins: ToolPinStore,
  ) {}

  /**
   * The interface of an agent, by its accepted card. A changed card holds the agent until a person accepts it.
   * @throws AppError `TOOL_HELD`, `TOOL_EXECUTION_FAILED` for a card without a usable interface, `OUTGOING_REFUSED`
   */
  async endpointOf(agent: RemoteAgent, signal: AbortSignal): Promise<RemoteEndpoint> {
    const known = this.known.get(agent.name);
    if (known && performance.now() - known.at < FRESH_MS) return known;
    const endpoint = toEndpoint(await this.accepted(agent, signal), agent);
    this.known.set(agent.name, { ...endpoint, at: performance.now() });
    return endpoint;
  }

  private async accepted(agent: RemoteAgent, signal: AbortSignal): Promise<Given> {
    const server = `a2a:${agent.name}`;
    const pinned = agent.card === undefined ? (await this.pins.of(server)).get(CARD)?.accepted : undefined;
    const card = await this.read(agent, signal).catch((error: unknown): Given => {
      // The agent may answer all the same, at the place that is accepted.
      if (!pinned || signal.aborted) throw error;
      this.logger.warn(`Failed to read the card of remote agent "${agent.name}": ${messageOf(error)}`);
      return pinned.definition.inputSchema as Given;
    });
    const digest = digestOf(card);
    const accepted = agent.card ?? pinned?.digest;
    if (accepted === undefined) await this.accept(server, card, digest);
    else if (accepted !== digest) throw held(agent, digest, accepted);
    return card;
  }

  /** The operator who declared the agent has agreed to its first card. */
  private async accept(server: string, card: Given, digest: string): Promise<void> {
    const definition = { name: CARD, inputSchema: card as JsonValue };
    const pin = { tool: CARD, accepted: { digest, definition }, pending: null, hints: null, version: null };
    await this.pins.add(server, [{ ...pin, decidedBy: null, changedAt: Date.now() }]);
  }

  private async read(agent: RemoteAgent, signal: AbortSignal): Promise<Given> {
    const { name, cardUrl, headers } = agent;
    const { status, body } = await this.http.send({
      url: cardUrl,
      method: 'GET',
      headers: { ...headers, accept: 'application/json', 'a2a-version': '1.0' },
      secrets: Object.values(headers),
      signal,
      limits: LIMITS,
    });
    if (status !== 200) throw failed(name, `answered the request for its card with HTTP ${status}`);
    const card = parseReply(body, agent);
    if (card) return card;
    throw failed(name, 'has a card that is no JSON object');
  }
}

function digestOf(card: Given): string {
  const pinned = Object.fromEntries(Object.entries(card).filter(([name]) => !UNPINNED.includes(name)));
  return createHash('sha256').update(canonicalJson(pinned)).digest('hex');
}

/** The first interface of version 1.0 over JSON-RPC. Headers of the declaration go to its own origin only. */
function toEndpoint({ supportedInterfaces, capabilities }: Given, { name, cardUrl }: RemoteAgent): RemoteEndpoint {
  const interfaces = Array.isArray(supportedInterfaces) ? supportedInterfaces.filter(isJsonObject) : [];
  const found = interfaces.find(
    (one) => one['protocolBinding'] === 'JSONRPC' && String(one['protocolVersion']).startsWith('1.'),
  );
  const url = typeof found?.['url'] === 'string' ? URL.parse(found['url']) : null;
  if (!url) throw failed(name, 'has no interface of A2A 1.0 over JSON-RPC in its card');
  if (url.origin !== cardUrl.origin)
    throw failed(
      name,
      `has its interface at ${url.origin}, not at ${cardUrl.origin}: declare it with a URL of its origin`,
    );
  return { url, isIdempotent: extensionsOf(capabilities).includes(IDEMPOTENT_MESSAGES) };
}

function extensionsOf(capabilities: unknown): unknown[] {
  const extensions = isJsonObject(capabilities) ? (capabilities as Given)['extensions'] : undefined;
  return Array.isArray(extensions) ? extensions.filter(isJsonObject).map(({ uri }) => uri) : [];
}

function failed(name: string, what: string): AppError {
  return new AppError('TOOL_EXECUTION_FAILED', `Remote agent "${name}" ${what}.`, { details: { agent: name } });
}

function held({ name, source, cardUrl }: RemoteAgent, digest: string, accepted: string): AppError {
  const message = `Remote agent "${name}" is held: its card has changed. Review ${cardUrl.href}, and accept it with "card": "${digest}" in ${source}.`;
  return new AppError('TOOL_HELD', message, { details: { agent: name, digest, accepted } });
}

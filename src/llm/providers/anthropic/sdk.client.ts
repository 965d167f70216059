import { Anthropic, APIConnectionError, APIError } from '@anthropic-ai/sdk';
import type { Dispatcher } from 'undici';
import type { ExchangeLimits, Limited } from '../../wire/exchange.handler.js';
import { type EndpointClient, post, type WireRequest, type WireResponse } from '../../wire/wire.client.js';
import { toConnectionFailure, toStatusFailure } from '../../wire/sdk-failure.mapper.js';
import { toWellFormedJson } from '../../wire/reply.parser.js';

type SdkRequest = Awaited<ReturnType<Anthropic['buildRequest']>>;
type SdkOptions = Parameters<Anthropic['buildRequest']>[0];

/** Longest timer of Node, in ms: the SDK's timer must not fire before ours. */
const NO_TIMEOUT = 2_147_483_647;
/** The SDK's version of the API, which has removed `temperature` and `top_p`. */
const VERSION = '2026-10-21';
/** The previous version, for requests with these parameters (platform.claude.com, "Versions"). */
const SAMPLING_VERSION = '2023-06-01';

interface Endpoint {
  readonly url: URL;
  /** Further headers of every request; they override the SDK's. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The official SDK without its `fetch`, retries, logging, tracing and environment variables. */
export class SdkClient extends Anthropic implements EndpointClient {
  private readonly endpoint: string;
  private readonly apiHeaders: Headers;
  private readonly samplingHeaders: Headers;

  constructor({ url, headers: further }: Endpoint, pool: Dispatcher, apiKey: string) {
    super({
      baseURL: url.origin,
      apiKey,
      webhookKey: null,
      maxRetries: 0,
      logLevel: 'off',
      openTelemetry: false,
      fetch: (_url, request) => post(pool, url, request as unknown as WireRequest) as unknown as Promise<Response>,
    });
    this.endpoint = url.href;
    const headers = (version: string) =>
      new Headers({
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'user-agent': 'jackdaw',
        'anthropic-version': version,
        'x-api-key': apiKey,
        ...further,
      });
    this.apiHeaders = headers(VERSION);
    this.samplingHeaders = headers(SAMPLING_VERSION);
  }

  /** Sends a request; the caller reads the reply. @throws WireFailure */
  async send(body: Record<string, unknown>, limits: ExchangeLimits): Promise<WireResponse> {
    const options = { body, signal: limits.signal, limits };
    try {
      const response = await this.post('/', options).asResponse();
      return response as unknown as WireResponse;
    } catch (thrown) {
      throw toWireFailure(thrown);
    }
  }

  /** Called by the SDK. It passes `req` to our `fetch` unchanged. */
  override buildRequest(options: SdkOptions): Promise<SdkRequest> {
    const body = options.body as Readonly<Record<string, unknown>>;
    const { limits } = options as Limited<SdkOptions>;
    const isSampling = body['temperature'] !== undefined || body['top_p'] !== undefined;
    const headers = isSampling ? this.samplingHeaders : this.apiHeaders;
    const req = { method: 'POST', headers, body: toWellFormedJson(body), limits };
    return Promise.resolve({ req, url: this.endpoint, timeout: NO_TIMEOUT });
  }
}

function toWireFailure(thrown: unknown): unknown {
  if (thrown instanceof APIConnectionError) return toConnectionFailure(thrown.cause);
  if (!(thrown instanceof APIError) || thrown.status === undefined) return thrown;
  const { status, message, error, headers } = thrown;
  // The SDK returns the whole body: `{type: "error", error: {type, message}}`.
  const inner = (error as { readonly error?: unknown } | undefined)?.error ?? error;
  return toStatusFailure({ status, message, error: inner, headers });
}

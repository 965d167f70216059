import { APIConnectionError, APIError, OpenAI } from 'openai';
import type { ChatCompletionFunctionTool } from 'openai/resources/chat/completions';
import type { Dispatcher } from 'undici';
import type { ExchangeLimits } from './exchange.handler.js';
import { post, type WireRequest, type WireResponse } from './fetch.client.js';
import { providerKind, providerMessage } from './provider-message.parser.js';
import { parseRetryAfter } from './retry-after.parser.js';
import { toToolsJson } from './tool.mapper.js';
import type { WireAccess } from './wire-dialect.types.js';
import { SilenceError, StatusError, UnreachableError } from './wire-failure.error.js';

type SdkRequest = Awaited<ReturnType<OpenAI['buildRequest']>>;
type SdkOptions = Parameters<OpenAI['buildRequest']>[0];

interface WireBody {
  readonly tools?: readonly ChatCompletionFunctionTool[];
}

/** The SDK's own timer must not fire before ours: the longest that Node takes, in ms. */
const NO_TIMEOUT = 2_147_483_647;

/**
 * The official SDK without what costs: its `fetch`, its retries, its logging, and a request built anew from eight
 * layers of headers for every call. That is about three quarters of its CPU: a call takes 0.11 ms instead of 0.44.
 */
export class SdkClient extends OpenAI {
  private readonly endpoint: string;
  private readonly wireHeaders: Headers;

  constructor(
    settings: WireAccess,
    pool: Dispatcher,
    /** Of the one endpoint that it posts to, behind the base URL. */
    private readonly path: string,
  ) {
    const endpoint = new URL(`${settings.baseUrl}${path}`);
    super({
      baseURL: settings.baseUrl,
      // The SDK wants one; where the provider needs none, none is sent.
      apiKey: settings.apiKey ?? 'none',
      adminAPIKey: null,
      maxRetries: 0,
      logLevel: 'off',
      fetch: (_url, request) => post(pool, endpoint, request as unknown as WireRequest) as unknown as Promise<Response>,
    });
    this.endpoint = endpoint.href;
    this.wireHeaders = new Headers({
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'user-agent': 'jackdaw',
      ...(settings.apiKey && { authorization: `Bearer ${settings.apiKey}` }),
    });
  }

  /** Posts; the reply is read by the caller. Throws a `WireFailure`. */
  async send(body: Record<string, unknown>, limits: ExchangeLimits): Promise<WireResponse> {
    const { signal, timeoutMs } = limits;
    try {
      const response = await this.post(this.path, { body, signal, timeout: timeoutMs }).asResponse();
      return response as unknown as WireResponse;
    } catch (thrown) {
      throw toWireFailure(thrown);
    }
  }

  /** Called by the SDK. What is put into `req` reaches our `fetch` as it is. */
  override buildRequest(options: SdkOptions): Promise<SdkRequest> {
    const limits: ExchangeLimits = { signal: options.signal, timeoutMs: options.timeout ?? NO_TIMEOUT };
    const req = { method: 'POST', headers: this.wireHeaders, body: toJson(options.body as WireBody), limits };
    return Promise.resolve({ req, url: this.endpoint, timeout: NO_TIMEOUT });
  }
}

/** Tools are most of a short request, and the same in every one of an agent: their JSON is kept. */
function toJson({ tools, ...rest }: WireBody): string {
  const json = JSON.stringify(rest);
  return tools ? `${json.slice(0, -1)},"tools":${toToolsJson(tools)}}` : json;
}

function toWireFailure(thrown: unknown): unknown {
  if (thrown instanceof APIConnectionError) {
    return thrown.cause instanceof SilenceError ? thrown.cause : new UnreachableError(thrown.cause);
  }
  if (!(thrown instanceof APIError) || thrown.status === undefined) return thrown;
  const headers: Headers | undefined = thrown.headers;
  return new StatusError(
    thrown.status,
    providerMessage(thrown.error ?? thrown.message.replace(/^\d{3} (?:status code \(no body\))?/, '')),
    providerKind(thrown.error),
    parseRetryAfter((name) => headers?.get(name) ?? null),
  );
}

import { steadyNow } from '../../kernel/index.js';
import type { CallOptions } from '../chat/chat.types.js';
import type { AddressRegistry } from './address.registry.js';
import type { ModelClient, WireRequest, WireResponse } from './wire.client.js';
import type { WireAccess } from './wire-access.types.js';
import { StatusError } from './wire-failure.error.js';

/** A version in a path: `/v1`, `/api/paas/v4`, `/v1beta/openai`. */
const VERSIONED = /\/v\d+(?:(?:alpha|beta)\d*)?(?:\/|$)/;
/** LM Studio answers 200 to an unknown path (github.com/lmstudio-ai/lmstudio-bug-tracker/issues/618). */
const UNKNOWN_PATH = /^\s*\{"error":"Unexpected endpoint or method/;

/** Whether the path of a URL names the version of an API. */
export function isVersioned(baseUrl: string): boolean {
  return VERSIONED.test(new URL(baseUrl).pathname);
}

/** Statuses of a request that an API refuses; others may be those of a proxy in front of it. */
const REFUSED = [400, 422];

/**
 * The endpoint of a base URL that names no version. If it does not exist, the endpoint below `/v1` is tried once; the
 * process remembers which one answered. If that one no longer exists, the other one is tried.
 */
export class VersionProbingClient implements ModelClient {
  constructor(
    private readonly access: WireAccess,
    private readonly plain: ModelClient,
    private readonly versioned: ModelClient,
    private readonly addresses: AddressRegistry,
  ) {}

  async send(request: WireRequest, options: CallOptions, spentMs = 0): Promise<WireResponse> {
    const known = this.addresses.needsVersion(this.access);
    const needsVersion = known ?? false;
    const start = steadyNow();
    try {
      const response = await found(await this.clientAt(needsVersion).send(request, options, spentMs));
      this.addresses.learnVersion(this.access, needsVersion);
      return response;
    } catch (failure) {
      if (!isUnknownPath(failure) || this.isAboutModel(failure)) throw failure;
      this.addresses.forgetVersion(this.access, needsVersion);
      return await this.sendOther(failure, !needsVersion, [request, options, spentMs + steadyNow() - start]);
    }
  }

  /**
   * @throws the failure of this endpoint if the API is here or the failure is transient; otherwise the first failure
   */
  private async sendOther(
    first: StatusError,
    needsVersion: boolean,
    request: Parameters<ModelClient['send']>,
  ): Promise<WireResponse> {
    try {
      const response = await found(await this.clientAt(needsVersion).send(...request));
      this.addresses.learnVersion(this.access, needsVersion);
      return response;
    } catch (failure) {
      if (!(failure instanceof StatusError)) throw failure;
      const isApi = REFUSED.includes(failure.status) || (isUnknownPath(failure) && this.isAboutModel(failure));
      if (isApi) this.addresses.learnVersion(this.access, needsVersion);
      // After a transient failure, the retry tries both endpoints again.
      const isTransient = failure.status === 429 || failure.status >= 500;
      throw isApi || isTransient ? failure : first;
    }
  }

  private clientAt(needsVersion: boolean): ModelClient {
    return needsVersion ? this.versioned : this.plain;
  }

  /** Servers also answer 404 to a request for an unknown model. */
  private isAboutModel({ said }: StatusError): boolean {
    return said.split(/[\s'"`,()]+/).some((word) => word.replace(/[.:;!]$/, '') === this.access.model);
  }
}

function isUnknownPath(failure: unknown): failure is StatusError {
  return failure instanceof StatusError && (failure.status === 404 || failure.status === 405);
}

/** @throws StatusError if the response says that the path is unknown */
async function found(response: WireResponse): Promise<WireResponse> {
  const isJson = /json/i.test(response.headers.get('content-type') ?? '');
  if (!isJson || !UNKNOWN_PATH.test(await response.text())) return response;
  throw new StatusError(404, await response.text());
}

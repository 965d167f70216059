import { withoutTrailing } from '../../kernel/json/index.js';
import { type Arguments, unwritable } from '../argument-text.mapper.js';
import { isHeaderText } from '../header.policy.js';
import type { Pair } from '../request-template.parser.js';
import { cookieHeader, type Credentials } from '../rest-auth.factory.js';
import { DEFAULT_HEADERS, type FileSource, type RequestBuilder, type RestRequest } from '../rest-request.builder.js';
import { wholeSegment } from '../url-template.parser.js';
import { encodeBody, pathText, queryText, reservedPathText, reservedQueryText } from './body-encoding.mapper.js';
import type { MappedBody } from './openapi-body.mapper.js';
import type { MappedParameter } from './openapi-parameter.mapper.js';
import { toPairs, toText } from './parameter-style.mapper.js';

/** A parameter or body with the name of its tool argument. */
export type Named<T> = T & { readonly argument: string };

/** The request of an operation. */
export interface OpenApiRequest {
  readonly base: string;
  /** Segments of the path: texts and parameters. */
  readonly path: readonly (readonly (string | Named<MappedParameter>)[])[];
  /** Fixed query of the path, without `?`. */
  readonly search: string;
  readonly parameters: readonly Named<MappedParameter>[];
  readonly body?: Named<MappedBody>;
}

/** Builds the requests of an operation of an OpenAPI document from validated arguments. */
export class OpenApiRequestBuilder implements RequestBuilder {
  constructor(
    private readonly request: OpenApiRequest,
    private readonly credentials: Credentials,
  ) {}

  get headerNames(): readonly string[] {
    return this.in('header').map(({ name }) => name);
  }

  async build(args: Arguments, files?: FileSource): Promise<RestRequest> {
    const { body } = this.request;
    const value = body && args[body.argument];
    const encoded = value === undefined ? undefined : await encodeBody(value, body!, files);
    return {
      url: this.urlOf(args),
      headers: {
        ...DEFAULT_HEADERS,
        ...(encoded && { 'content-type': encoded.contentType }),
        ...this.headersOf(args),
        ...this.cookieOf(args),
        ...this.credentials.headers,
      },
      ...(encoded && { body: encoded.body }),
      secrets: this.credentials.secrets,
    };
  }

  private in(place: MappedParameter['place']): readonly Named<MappedParameter>[] {
    return this.request.parameters.filter((parameter) => parameter.place === place);
  }

  private urlOf(args: Arguments): URL {
    const url = new URL(this.request.base);
    const path = this.request.path.map((segment) => segmentText(segment, args));
    const base = withoutTrailing(url.pathname, '/');
    url.pathname = `${base}/${path.join('/')}`;
    if (!url.pathname.startsWith(`${base}/`) || url.pathname.split('/').length !== base.split('/').length + path.length)
      throw unwritable('the path would leave its base URL');
    const given = this.in('query').flatMap((one) =>
      toPairs(one.name, args[one.argument], one, one.isReserved ? reservedQueryText : queryText),
    );
    const own = this.credentials.query.map(([name, text]) => [queryText(name, name), queryText(text, name)] as const);
    const texts = withCredentials(given, own).map((pair) => pair.join('='));
    url.search = [...(this.request.search === '' ? [] : [this.request.search]), ...texts].join('&');
    return url;
  }

  private headersOf(args: Arguments): Record<string, string> {
    const entries = this.in('header').flatMap((one) => {
      const text = toText(one.name, args[one.argument], one, (plain) => plain);
      if (text === undefined) return [];
      if (isHeaderText(text)) return [[one.name.toLowerCase(), text]];
      throw unwritable(`the header "${one.name}" cannot contain these characters; use plain ASCII`);
    });
    return Object.fromEntries(entries) as Record<string, string>;
  }

  private cookieOf(args: Arguments): { readonly cookie?: string } {
    const given = this.in('cookie').flatMap((one) => toPairs(one.name, args[one.argument], one, queryText));
    return cookieHeader(withCredentials(given, this.credentials.cookies));
  }
}

/** Credentials replace pairs of the same name: the members of an object can have the name of a credential. */
function withCredentials(given: readonly Pair[], own: readonly Pair[]): readonly Pair[] {
  return [...given.filter(([name]) => !own.some(([reserved]) => name === reserved)), ...own];
}

function segmentText(segment: OpenApiRequest['path'][number], args: Arguments): string {
  const texts = segment.map((piece) => {
    if (typeof piece === 'string') return piece;
    const text = toText(piece.name, args[piece.argument], piece, piece.isReserved ? reservedPathText : pathText);
    if (text === undefined) throw unwritable('an argument of the URL is missing');
    return text;
  });
  return wholeSegment(texts.join(''), segment.length > 0);
}

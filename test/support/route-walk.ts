import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { Answer, Jackdaw } from './jackdaw.js';

type Headings = Readonly<Record<string, string>>;

/** A route with the values of a request. */
export interface RouteCall {
  /** As in the OpenAPI document, `GET /api/runs/{id}`. */
  readonly route: string;
  /** The values of its path placeholders. */
  readonly ids?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly query?: string;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'options', 'head', 'trace'] as const;

/** Every route of the OpenAPI document, sorted; pages of single tools are covered by their common route. */
export async function documentedRoutes(jackdaw: Jackdaw): Promise<string[]> {
  const { paths } = (await jackdaw.get('/docs/json')).body as unknown as OpenAPIObject;
  return Object.entries(paths)
    .flatMap(([path, item]) => {
      const methods = METHODS.filter((method) => item[method] && !('x-tool' in item[method]));
      return methods.map((name) => `${name.toUpperCase()} ${path}`);
    })
    .toSorted();
}

/** The documented routes whose query or body has the id of a session. */
export function sessionTakers({ paths, components }: OpenAPIObject): string[] {
  const isSession = (name: string) => /^(session|conversation|thread|context)_?id$/i.test(name);
  const schemas = components?.schemas ?? {};
  const propertiesOf = (schema: unknown): string[] => {
    const {
      $ref,
      properties = {},
      allOf = [],
    } = (schema ?? {}) as {
      $ref?: string;
      properties?: Record<string, unknown>;
      allOf?: unknown[];
    };
    const named = $ref === undefined ? [] : propertiesOf(schemas[$ref.split('/').at(-1)!]);
    return [...named, ...Object.keys(properties), ...allOf.flatMap(propertiesOf)];
  };
  return Object.entries(paths).flatMap(([path, item]) =>
    (['get', 'post', 'put', 'patch', 'delete'] as const).flatMap((method) => {
      const operation = item[method];
      if (!operation || 'x-tool' in operation) return [];
      const given = (operation.parameters ?? []).flatMap((each) =>
        'name' in each && each.in === 'query' ? [each.name] : [],
      );
      const body = operation.requestBody && 'content' in operation.requestBody ? operation.requestBody.content : {};
      const names = [...given, ...Object.values(body).flatMap(({ schema }) => propertiesOf(schema))];
      return names.some(isSession) ? [`${method.toUpperCase()} ${path}`] : [];
    }),
  );
}

/** A method of a controller that serves a route. */
export interface RouteHandler {
  readonly name: string;
  readonly method: string;
  readonly controller: Type;
  readonly handler: Function;
}

/** Every handler that Nest serves a route with, in the document or not. */
export function routeHandlers({ app }: Jackdaw): RouteHandler[] {
  const controllers = [...app.get(ModulesContainer).values()].flatMap((module) => [...module.controllers.values()]);
  return controllers.flatMap(({ metatype }) => {
    const controller = metatype as Type;
    const names = Object.getOwnPropertyNames(controller.prototype);
    const handlers = names.map(
      (name) => [name, Reflect.get(controller.prototype as object, name) as Function] as const,
    );
    return handlers.flatMap(([name, handler]) => {
      if (name === 'constructor' || Reflect.getMetadata(PATH_METADATA, handler) === undefined) return [];
      const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod];
      return [{ name: `${controller.name}.${name}`, method, controller, handler }];
    });
  });
}

/** Whether the routes have the wire format of a standard client, which our OpenAPI document leaves out. */
export function isOfStandardClients(controller: Type): boolean {
  return /^(v1|ag-ui|a2a|\.well-known|agent\/ui)(\/|,|$)/.test(String(Reflect.getMetadata(PATH_METADATA, controller)));
}

/** Sends a request to a route. A placeholder without an id stays as it is, and is then an unknown id. */
export function call(jackdaw: Jackdaw, { route, ids = {}, body, query = '' }: RouteCall, headers: Headings) {
  const [method = '', template = ''] = route.split(' ');
  const path = template.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => ids[name] ?? placeholder.slice(1, -1));
  return jackdaw.send(`${path}${query}`, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** The whole answer, without the date, the length, the id of the request, and the ids that the request itself named. */
export function said({ status, headers, text }: Answer, named: readonly string[]): unknown {
  const heads = [...headers].filter(([name]) => name !== 'date' && name !== 'content-length');
  const ids = [...named, headers.get('x-request-id') ?? []].flat();
  return JSON.parse(ids.reduce((all, id) => all.replaceAll(id, '‹id›'), JSON.stringify({ status, heads, text })));
}

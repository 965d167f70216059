import { ModulesContainer } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import { accessOf, type RouteAccess } from '../security/index.js';
import { addBodyExample } from './body-example.mapper.js';
import { OPERATIONS, TAGS, type DocumentedOperation } from './operation.registry.js';

/** An operation with its path and method. */
export interface PlacedOperation {
  readonly path: string;
  readonly method: string;
  readonly operation: NonNullable<OpenAPIObject['paths'][string]['get']>;
  /** Absent for the application's own controllers. */
  readonly documented: DocumentedOperation | undefined;
  readonly access: RouteAccess | undefined;
}

type Handlers = Readonly<Record<string, object | undefined>>;
type Parameter = NonNullable<PlacedOperation['operation']['parameters']>[number];

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Id of an operation: the registered one, or for a controller of the application its method and class. */
export function operationId(controller: string, method: string): string {
  return OPERATIONS[`${controller}.${method}`]?.id ?? method + controller.replace(/Controller$/, '');
}

/** All operations of a document, with their places. */
export function operationsIn(app: NestFastifyApplication, { paths }: OpenAPIObject): PlacedOperation[] {
  const documented = new Map(Object.values(OPERATIONS).map((each) => [each.id, each]));
  const access = accesses(app);
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      if (!operation) return [];
      const id = operation.operationId ?? '';
      return { path, method, operation, documented: documented.get(id), access: access.get(id) };
    }),
  );
}

/** Completes operations: tags, optional headers and bodies, whole numbers in paths, public operations. */
export function describeOperations(operations: readonly PlacedOperation[], document: OpenAPIObject): void {
  for (const { operation, documented, access } of operations) {
    if (documented) operation.tags = [documented.tag];
    if (access?.isPublic) operation.security = [];
    operation.parameters?.forEach(describeParameter);
    splitSummary(operation);
    addBodyExample(operation);
    const { requestBody } = operation;
    if (!requestBody || !('content' in requestBody)) continue;
    requestBody.required = isRequired(requestBody.content['application/json']?.schema, document);
  }
  const used = new Set(operations.flatMap(({ operation }) => operation.tags ?? []));
  document.tags = [...used].map((name) => ({ name, description: TAGS[name as keyof typeof TAGS] ?? '' }));
}

/** A comment of several sentences: the first is the summary, the others are the description. */
function splitSummary(operation: PlacedOperation['operation']): void {
  const [, first, rest] = /^(.*?[.?!])\s+(.+)$/s.exec(operation.summary ?? '') ?? [];
  if (first === undefined || rest === undefined || operation.description) return;
  operation.summary = first;
  operation.description = rest;
}

function describeParameter(parameter: Parameter): void {
  if (!('in' in parameter)) return;
  if (parameter.in === 'header') parameter.required = false;
  const { schema } = parameter;
  const isNumber = schema && 'type' in schema && schema.type === 'number';
  // `NumberPipe` checks them.
  if (parameter.in === 'path' && isNumber) parameter.schema = { type: 'integer', minimum: 1, maximum: 2_147_483_647 };
}

function isRequired(schema: object | undefined, { components }: OpenAPIObject): boolean {
  const name = schema && '$ref' in schema ? String(schema.$ref).split('/').at(-1) : undefined;
  const body = components?.schemas?.[name ?? ''];
  return !body || ('required' in body && (body.required ?? []).length > 0);
}

function accesses(app: NestFastifyApplication): Map<string, RouteAccess> {
  const modules = [...app.get(ModulesContainer, { strict: false }).values()];
  const classes = modules.flatMap(({ controllers }) => [...controllers.values()].map(({ metatype }) => metatype));
  return new Map(classes.flatMap((each) => (typeof each === 'function' ? accessesOf(each) : [])));
}

function accessesOf(controller: object & { readonly name: string }): [string, RouteAccess][] {
  const { prototype } = controller as typeof controller & { readonly prototype: Handlers };
  return Object.getOwnPropertyNames(prototype).flatMap((method) => {
    const handler = prototype[method];
    return handler ? [[operationId(controller.name, method), accessOf([handler, controller])]] : [];
  });
}

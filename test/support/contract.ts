import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { readFileSync } from 'node:fs';

interface Documented {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}
interface Route {
  readonly pattern: RegExp;
  readonly path: string;
  readonly operations: Readonly<Record<string, Documented | undefined>>;
}

/** An answer of the server. */
export interface CheckedAnswer {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly status: number;
  readonly type: string | null | undefined;
  readonly text: string;
}

/** Texts of longer answers are not checked: a test that returns megabytes is about their size. */
const MAX_CHECKED = 1_000_000;
const ID = 'openapi';
const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as {
  readonly paths: Readonly<Record<string, Route['operations']>>;
};
const routes: readonly Route[] = Object.entries(document.paths)
  .map(([path, operations]) => ({ pattern: toPattern(path), path, operations }))
  // `/api/tool-states/{id}` also matches the text of a path without placeholders.
  .toSorted((a, b) => a.path.split('{').length - b.path.split('{').length);
const ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: false, allowUnionTypes: true });
ajv.addSchema(document, ID);
const checks = new Map<string, ValidateFunction>();

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`);
}

/**
 * Checks an answer of a documented operation against the OpenAPI document: status, content type and schema.
 * @throws Error that names the operation, the place in the answer and the fault
 */
export function assertContract(answer: CheckedAnswer): void {
  const { method, status, text } = answer;
  const path = answer.path.split('?', 1)[0] ?? '';
  const route = routes.find(({ pattern }) => pattern.test(path));
  const verb = method.toLowerCase();
  const operation = route?.operations[verb];
  if (!route || !operation) return;
  const place = `${method} ${route.path} ${status}`;
  const response = operation.responses[status];
  if (!response) throw undocumented(`the status of ${place}`, text);
  if (response.content)
    assertContent(answer, place, response.content, `${pointer(route.path, verb)}/responses/${status}`);
  else if (text !== '') throw undocumented(`a body of ${place}`, text);
}

function assertContent({ type, text }: CheckedAnswer, place: string, content: object, at: string): void {
  const media = type?.split(';', 1)[0] ?? '';
  if ('*/*' in content) return;
  if (!(media in content)) throw undocumented(`the type "${media}" of ${place}`, text);
  if (!media.endsWith('json') || text.length > MAX_CHECKED) return;
  const check = checkOf(`${at}/content/${part(media)}/schema`);
  if (!check(JSON.parse(text))) throw undocumented(`the body of ${place}: ${faults(check)}`, text);
}

/** Checks the payload of a run event. @throws Error as `assertContract` */
export function assertEvent(data: unknown): void {
  const check = checkOf('#/components/schemas/RunEvent');
  if (!check(data)) throw undocumented(`the event: ${faults(check)}`, JSON.stringify(data));
}

function undocumented(place: string, text: string): Error {
  return new Error(`Not in the OpenAPI document: ${place}: ${text.slice(0, 1000)}`);
}

function checkOf(at: string): ValidateFunction {
  let check = checks.get(at);
  if (!check) checks.set(at, (check = ajv.compile({ $ref: `${ID}${at}` })));
  return check;
}

function faults({ errors }: ValidateFunction): string {
  return ajv.errorsText(errors?.slice(0, 5), { dataVar: '' });
}

function pointer(path: string, verb: string): string {
  return `#/paths/${part(path)}/${verb}`;
}

function part(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}

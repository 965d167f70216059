import type { OPERATIONS, Operations, Problem, RunEvent } from '../../../src/http-client/generated/operations';
import type { components, paths } from '../generated/immutable/schema';

/** The same type: each is assignable to the other. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
/** Requests of `jackdaw/client` accept an object of any type as a JSON object. */
type Documented<T> = unknown extends T
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Documented<Item>[]
    : object extends T
      ? Readonly<Record<string, unknown>>
      : T extends object
        ? { readonly [Name in keyof T]: Documented<T[Name]> }
        : T;
type Json<T> = T extends { readonly content: { readonly 'application/json': infer Value } } ? Value : undefined;
type Success<Responses> = Json<Responses[keyof Responses & (200 | 201 | 202 | 204)]>;
type OperationOf<Id extends keyof Operations> =
  Lowercase<(typeof OPERATIONS)[Id]['method']> extends infer Method extends keyof paths[(typeof OPERATIONS)[Id]['path']]
    ? paths[(typeof OPERATIONS)[Id]['path']][Method]
    : never;
type Body<O> = O extends { readonly requestBody?: infer Value }
  ? Given<Value> extends undefined
    ? undefined
    : Json<Given<Value>> | (O extends { readonly requestBody: unknown } ? never : undefined)
  : never;
type Given<T> = [Exclude<T, undefined>] extends [never] ? undefined : Exclude<T, undefined>;
type Parameters<O, Place extends string> = O extends { readonly parameters: { readonly [P in Place]?: infer Value } }
  ? Given<Value>
  : never;
type Answers<O> = O extends { readonly responses: infer Responses } ? Success<Responses> : never;

/** The parts of operations that differ from the document: none. */
type Different = {
  [Id in keyof Operations]: {
    body: Same<Documented<Operations[Id]['body']>, Body<OperationOf<Id>>>;
    query: Same<Operations[Id]['query'], Parameters<OperationOf<Id>, 'query'>>;
    path: Same<Operations[Id]['path'], Parameters<OperationOf<Id>, 'path'>>;
    answer: Same<Operations[Id]['answer'], Answers<OperationOf<Id>>>;
  } extends infer Checks
    ? { [Part in keyof Checks]: Checks[Part] extends true ? never : `${Id}: ${Part & string}` }[keyof Checks]
    : never;
}[keyof Operations];

const different: [Different] extends [never] ? 'none' : Different = 'none';
const events: Same<RunEvent, components['schemas']['RunEvent']> = true;
const problems: Same<Problem, components['schemas']['Problem']> = true;
export const checks = [different, events, problems];

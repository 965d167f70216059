/** The input of a tool: schemas of classes, of libraries and of JSON, and the checks of arguments. */
export { isStandardSchema } from './standard-schema.types.js';
export type { StandardInputSchema } from './standard-schema.types.js';
export { Parameter } from './parameter.builder.js';
export { closeSchema } from './closed-schema.mapper.js';
export type { InputSource } from './input.types.js';
export { createBoundedCheck, createBoundedInput, createValueCheck } from './schema-input.factory.js';
export { jsonSchemaOf } from './standard-input.factory.js';
export type { DtoClass } from './dto-schema.factory.js';

import { ValidationPipe, type ArgumentMetadata, type ValidationError } from '@nestjs/common';
import type { ValidatorOptions } from 'class-validator';
import { AppError } from '../errors/index.js';
import { fieldMistake, MAX_MISTAKES, type FieldMistake } from '../kernel/index.js';
import { ExactInteger, isJsonObject, isRaw, RawValue } from '../kernel/json/index.js';
import { HttpOnly } from '../kernel/nest/index.js';
import { nearNames } from '../kernel/text/index.js';
import {
  brokenElements,
  fieldNames,
  hasNestedClass,
  isKnown,
  isSurelyValid,
  maxElements,
  takesOnlyObjects,
} from './dto-rules.js';

const UNKNOWN_FIELD = 'whitelistValidation';
/** A value that breaks one of these rules has no length, size or content that another rule could describe. */
const TYPE_RULES = ['isString', 'isInt', 'isNumber', 'isBoolean', 'isObject', 'isArray'];
/** Maximum number of reported elements of an invalid list. */
const MAX_REPORTED_ELEMENTS = 10;

/** Validates HTTP input against its DTO. Unknown fields are mistakes, and all mistakes are reported at once. */
@HttpOnly()
class RequestPipe extends ValidationPipe {
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.type === 'body' && isNoObject(value) && isDto(metadata.metatype)) {
      throw toError([fieldMistake('body', 'the body must be a JSON object', 'isObject', value)]);
    }
    if (metadata.type === 'custom' || typeof value !== 'object' || value === null || Array.isArray(value)) {
      return super.transform(value, metadata);
    }
    const { unknown, rest } = prepared(value, metadata.metatype ?? Object);
    if (unknown.length === 0) return super.transform(rest, metadata);
    throw toError(await this.withOthers(unknown, rest, metadata));
  }

  /** Numbers in paths are written in digits only. */
  protected override transformPrimitive(value: unknown, metadata: ArgumentMetadata): unknown {
    if (metadata.metatype !== Number || typeof value !== 'string') return super.transformPrimitive(value, metadata);
    return /^\d+$/.test(value) ? Number(value) : Number.NaN;
  }

  protected override validate(
    dto: object,
    options: ValidatorOptions = {},
  ): Promise<ValidationError[]> | ValidationError[] {
    return isSurelyValid(dto, options) ? [] : super.validate(dto, options);
  }

  /** The mistakes of the known fields, then the unknown fields. */
  private async withOthers(
    unknown: readonly FieldMistake[],
    value: unknown,
    metadata: ArgumentMetadata,
  ): Promise<readonly FieldMistake[]> {
    if (unknown.length >= MAX_MISTAKES) return unknown;
    try {
      await super.transform(value, metadata);
      return unknown;
    } catch (error) {
      const known: unknown = error instanceof AppError && error.details?.['errors'];
      if (Array.isArray(known)) return [...(known as FieldMistake[]), ...unknown];
      throw error;
    }
  }
}

export function createValidationPipe(): ValidationPipe {
  return new RequestPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    // Reports only a value's type, never the value; the target shows which elements of a list are wrong.
    validationError: { target: true, value: true },
    exceptionFactory: (errors: ValidationError[]) => toError(errors.flatMap((error) => toFieldErrors(error, ''))),
  });
}

/** A missing value is not reported here: the fields report it, or it is optional. */
function isNoObject(value: unknown): boolean {
  return value !== undefined && (typeof value !== 'object' || value === null || Array.isArray(value));
}

function isDto(metatype: ArgumentMetadata['metatype']): boolean {
  return metatype !== undefined && metatype !== Object && metatype !== Array && metatype !== String;
}

interface Prepared {
  readonly unknown: readonly FieldMistake[];
  readonly rest: unknown;
}

/**
 * Wraps users' own JSON in the input of a class, separates unknown fields, and shortens lists that are too long: the time
 * of class-validator depends on the number of mistakes. Stops at `MAX_MISTAKES`. Fields named as members of
 * `Object.prototype` count as unknown: class-validator accepts them, and class-transformer drops one of them.
 */
function prepared(value: object, type: Function, path = ''): Prepared {
  const unknown: FieldMistake[] = [];
  const rest: Record<string, unknown> = {};
  for (const [name, child] of Object.entries(value) as [string, unknown][]) {
    if (unknown.length >= MAX_MISTAKES) break;
    if (name in Object.prototype || !isKnown(type, name)) {
      unknown.push(unknownField({ path, name }, child, type));
      continue;
    }
    if (isRaw(type, name)) {
      rest[name] = new RawValue(rawOf(child, type, name));
      continue;
    }
    const inner = innerOf(child, type, `${path}${name}`, name);
    unknown.push(...inner.unknown);
    rest[name] = inner.rest;
  }
  return { unknown, rest };
}

/** An exact integer is an object to class-validator: where only an object is valid, its number is passed and rejected. */
function rawOf(child: unknown, type: Function, name: string): unknown {
  return child instanceof ExactInteger && takesOnlyObjects(type, name) ? child.toNumber() : child;
}

/** The same for a field with a nested class, or with a list. */
function innerOf(child: unknown, type: Function, path: string, name: string): Prepared {
  if (Array.isArray(child)) return { unknown: [], rest: shortened(child, type, name) };
  const nested: unknown = Reflect.getMetadata('design:type', type.prototype as object, name);
  const isClass = typeof nested === 'function' && nested !== Object && nested !== Array;
  if (!isClass || !isJsonObject(child)) return { unknown: [], rest: child };
  return prepared(child, nested, `${path}.`);
}

/** One element above the limit breaks the rule as all of them do; as many fields of an element are not known. */
function shortened(list: readonly unknown[], type: Function, name: string): readonly unknown[] {
  const max = maxElements(type, name);
  const some = list.length > max ? list.slice(0, max + 1) : list;
  return hasNestedClass(type, name) ? some.map(withFewFields) : some;
}

function withFewFields(element: unknown): unknown {
  if (!isJsonObject(element)) return element;
  const fields = Object.entries(element);
  return fields.length > MAX_MISTAKES ? Object.fromEntries(fields.slice(0, MAX_MISTAKES)) : element;
}

function toError(all: readonly FieldMistake[]): AppError {
  const fields = all.slice(0, MAX_MISTAKES);
  const detail = fields.map(({ message }) => message).join('; ');
  return new AppError('VALIDATION_FAILED', `The request is not valid: ${detail}.`, { details: { errors: fields } });
}

function toFieldErrors(error: ValidationError, path: string): FieldMistake[] {
  const { property, constraints = {}, children = [] } = error;
  const field = `${path}${property}`;
  const own = mainRules(constraints, error.value).flatMap(([rule, message]) =>
    mistakesOf(error, { rule, message, field }),
  );
  return [...own, ...children.flatMap((child) => toFieldErrors(child, `${field}.`))];
}

function mainRules(constraints: Record<string, string>, value: unknown): [rule: string, message: string][] {
  const rules = Object.entries(constraints);
  // Each element of a list breaks rules of its own.
  const types = Array.isArray(value) ? [] : rules.filter(([rule]) => TYPE_RULES.includes(rule));
  if (types.length === 0) return rules;
  if (value !== undefined) return types;
  return types.map(([rule, message]) => [rule, message.replace(/^(\w+) must/, '$1 is required and must')]);
}

interface Broken {
  readonly rule: string;
  readonly message: string;
  readonly field: string;
}

/** One mistake; for an `each` rule, one for each element that breaks it. */
function mistakesOf({ property, target, value }: ValidationError, { rule, message, field }: Broken): FieldMistake[] {
  const path = field.slice(0, field.length - property.length);
  if (rule === UNKNOWN_FIELD) return [unknownField({ path, name: property }, value, target?.constructor)];
  if (value instanceof ExactInteger)
    return [fieldMistake(field, `${field} is ${value.text}, which cannot be represented exactly`, rule, value)];
  const elements = target && Array.isArray(value) ? brokenElements(target, property, rule) : [];
  if (elements.length === 0) return [fieldMistake(field, withPath(message, property, field), rule, value)];
  return elements.slice(0, MAX_REPORTED_ELEMENTS).map((at) => {
    const place = `${field}.${at}`;
    const text = message.replace(/^each value in nested property |^each value in |^each of /, '');
    return fieldMistake(place, withPath(text, property, place), rule, (value as unknown[])[at]);
  });
}

/** Replaces the property at the start of class-validator's message by the field's path. */
function withPath(message: string, property: string, field: string): string {
  return message.replace(new RegExp(`^((?:each value in )?(?:nested property )?)${property}\\b`), `$1${field}`);
}

interface FieldPlace {
  readonly path: string;
  readonly name: string;
}

function unknownField({ path, name }: FieldPlace, value: unknown, type: Function = Object): FieldMistake {
  const [near] = nearNames(name, fieldNames(type));
  const hint = near === undefined ? '' : ` (did you mean "${path}${near}"?)`;
  return fieldMistake(`${path}${name}`, `the field "${path}${name}" is not known${hint}`, UNKNOWN_FIELD, value);
}

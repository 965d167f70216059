import { ValidationPipe, type ArgumentMetadata, type ValidationError } from '@nestjs/common';
import type { ValidatorOptions } from 'class-validator';
import {
  AppError,
  ExactInteger,
  fieldMistake,
  isJsonObject,
  isRaw,
  RawValue,
  type FieldMistake,
} from './common/index.js';
import { brokenElements, isSurelyValid, takesOnlyObjects } from './dto-rules.js';

const UNKNOWN_FIELD = 'whitelistValidation';
/** Maximum number of reported elements of an invalid list. */
const MAX_REPORTED_ELEMENTS = 10;

/** Validates HTTP input against its DTO. Unknown fields are mistakes, and all mistakes are reported at once. */
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
    throw toError([...(await this.mistakesIn(rest, metadata)), ...unknown]);
  }

  protected override validate(
    dto: object,
    options: ValidatorOptions = {},
  ): Promise<ValidationError[]> | ValidationError[] {
    return isSurelyValid(dto, options) ? [] : super.validate(dto, options);
  }

  private async mistakesIn(value: unknown, metadata: ArgumentMetadata): Promise<readonly FieldMistake[]> {
    try {
      await super.transform(value, metadata);
      return [];
    } catch (error) {
      if (error instanceof AppError) return error.details?.['errors'] as FieldMistake[];
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
  readonly rest: Record<string, unknown>;
}

/**
 * Wraps users' own JSON in the input of a class, and separates fields named as members of `Object.prototype`:
 * class-validator accepts them as known, and class-transformer drops one of them.
 */
function prepared(value: object, type: Function, path = ''): Prepared {
  const unknown: FieldMistake[] = [];
  const rest: Record<string, unknown> = {};
  for (const [name, child] of Object.entries(value) as [string, unknown][]) {
    if (name in Object.prototype) {
      unknown.push(unknownField(`${path}${name}`, child));
      continue;
    }
    const inner = isRaw(type, name) ? undefined : innerOf(child, type, `${path}${name}`, name);
    unknown.push(...(inner?.unknown ?? []));
    rest[name] = isRaw(type, name) ? new RawValue(rawOf(child, type, name)) : (inner?.rest ?? child);
  }
  return { unknown, rest };
}

/** An exact integer is an object to class-validator: where only an object is valid, its number is passed and rejected. */
function rawOf(child: unknown, type: Function, name: string): unknown {
  return child instanceof ExactInteger && takesOnlyObjects(type, name) ? child.toNumber() : child;
}

/** The same for a field with a nested class. */
function innerOf(child: unknown, type: Function, path: string, name: string): Prepared | undefined {
  const nested: unknown = Reflect.getMetadata('design:type', type.prototype as object, name);
  const isNested = typeof nested === 'function' && nested !== Object && nested !== Array;
  if (!isNested || !isJsonObject(child)) return undefined;
  return prepared(child, nested, `${path}.`);
}

function toError(fields: readonly FieldMistake[]): AppError {
  const detail = fields.map(({ message }) => message).join('; ');
  return new AppError('VALIDATION_FAILED', `The request is not valid: ${detail}.`, { details: { errors: fields } });
}

function toFieldErrors(error: ValidationError, path: string): FieldMistake[] {
  const { property, constraints = {}, children = [] } = error;
  const field = `${path}${property}`;
  const own = Object.entries(constraints).flatMap(([rule, message]) => mistakesOf(error, { rule, message, field }));
  return [...own, ...children.flatMap((child) => toFieldErrors(child, `${field}.`))];
}

interface Broken {
  readonly rule: string;
  readonly message: string;
  readonly field: string;
}

/** One mistake; for an `each` rule, one for each element that breaks it. */
function mistakesOf({ property, target, value }: ValidationError, { rule, message, field }: Broken): FieldMistake[] {
  if (rule === UNKNOWN_FIELD) return [unknownField(field, value)];
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

function unknownField(field: string, value: unknown): FieldMistake {
  return fieldMistake(field, `the field "${field}" is not known`, UNKNOWN_FIELD, value);
}

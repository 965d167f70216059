import { ValidationPipe, type ArgumentMetadata, type ValidationError } from '@nestjs/common';
import { AppError } from './common/index.js';

interface FieldError {
  /** Its path, as in `images.0.url`. */
  readonly field: string;
  readonly message: string;
  /** class-validator's name of what does not hold. */
  readonly rule: string;
  /** The type of what was given, as JSON has it. */
  readonly got: string;
}

const UNKNOWN_FIELD = 'whitelistValidation';

/** Checks what comes in over HTTP against its DTO; unknown fields are mistakes, and every mistake is told at once. */
class RequestPipe extends ValidationPipe {
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const unknown = metadata.type === 'custom' ? [] : inheritedNames(value);
    if (unknown.length === 0) return super.transform(value, metadata);
    const rest = Object.entries(value as object).filter(([name]) => !unknown.includes(name));
    const mistakes = await this.mistakesIn(Object.fromEntries(rest), metadata);
    throw toError([
      ...mistakes,
      ...unknown.map((field) => unknownField(field, (value as Record<string, unknown>)[field])),
    ]);
  }

  private async mistakesIn(value: unknown, metadata: ArgumentMetadata): Promise<readonly FieldError[]> {
    try {
      await super.transform(value, metadata);
      return [];
    } catch (error) {
      if (error instanceof AppError) return error.details?.['errors'] as FieldError[];
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
    // Of a value its type is told, never more.
    validationError: { target: false, value: true },
    exceptionFactory: (errors: ValidationError[]) => toError(errors.flatMap((error) => toFieldErrors(error, ''))),
  });
}

/** Fields that every object has: class-validator takes them for known ones, and class-transformer drops one. */
function inheritedNames(value: unknown): string[] {
  return typeof value === 'object' && value !== null
    ? Object.keys(value).filter((name) => name in Object.prototype)
    : [];
}

function toError(fields: readonly FieldError[]): AppError {
  const detail = fields.map(({ message }) => message).join('; ');
  return new AppError('VALIDATION_FAILED', `The request is not valid: ${detail}.`, { details: { errors: fields } });
}

function toFieldErrors({ property, constraints, children, value }: ValidationError, path: string): FieldError[] {
  const field = `${path}${property}`;
  const own = Object.entries(constraints ?? {}).map(([rule, message]) =>
    rule === UNKNOWN_FIELD ? unknownField(field, value) : { field, message, rule, got: typeOf(value) },
  );
  return [...own, ...(children ?? []).flatMap((child) => toFieldErrors(child, `${field}.`))];
}

function unknownField(field: string, value: unknown): FieldError {
  return { field, message: `the field "${field}" is not known`, rule: UNKNOWN_FIELD, got: typeOf(value) };
}

function typeOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

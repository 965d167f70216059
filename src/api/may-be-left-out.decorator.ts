import { ValidateIf } from 'class-validator';

/** A field that may be missing. Unlike with `IsOptional`, `null` is a value, and a wrong one. */
export const MayBeLeftOut = () => ValidateIf((_dto: object, value: unknown) => value !== undefined);
